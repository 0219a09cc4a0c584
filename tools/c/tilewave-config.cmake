# find_package(tilewave) defines tilewave::tilewave, the shared library, and tilewave::static.
get_filename_component(_tilewave_prefix "${CMAKE_CURRENT_LIST_DIR}/@UP@" ABSOLUTE)
if(NOT TARGET tilewave::tilewave)
  add_library(tilewave::tilewave SHARED IMPORTED)
  set_target_properties(tilewave::tilewave PROPERTIES
    IMPORTED_LOCATION "${_tilewave_prefix}/@SHARED@"
    IMPORTED_IMPLIB "${_tilewave_prefix}/@LIBDIR@/libtilewave.dll.a"
    INTERFACE_INCLUDE_DIRECTORIES "${_tilewave_prefix}/include")
  add_library(tilewave::static STATIC IMPORTED)
  set_target_properties(tilewave::static PROPERTIES
    IMPORTED_LOCATION "${_tilewave_prefix}/@LIBDIR@/libtilewave.a"
    IMPORTED_LINK_INTERFACE_LANGUAGES C
    INTERFACE_INCLUDE_DIRECTORIES "${_tilewave_prefix}/include"
    INTERFACE_LINK_LIBRARIES "@PRIVATE@")
endif()
unset(_tilewave_prefix)
