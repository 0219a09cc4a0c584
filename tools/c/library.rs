//! The C library: the functions of tools/c/tilewave.h, linked from the Rust library and nothing else.
//!
//! cargo build --release --example tilewave
extern crate tilewave as _;
