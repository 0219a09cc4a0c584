/**
 * @file tilewave.h
 * The C interface of tilewave: pattern databases and distance tables. How to build and link: tools/c/README.md.
 *
 * Every pointer is NULL or points at as many elements as the count or capacity beside it says. What a NULL means is
 * documented where it means something; elsewhere it is a wrong argument. A database or a table may be used by several
 * threads at the same time, until it is closed.
 *
 * Made by cbindgen from tools/c/library.rs; do not edit. Make it again: TILEWAVE_UPDATE=1 cargo test --release --test suite c_header
 */

#ifndef TILEWAVE_H
#define TILEWAVE_H

#include <stddef.h>
#include <stdint.h>
/** What is before each function: define it to change how the functions are declared. */
#ifndef TILEWAVE_API
#define TILEWAVE_API extern
#endif

/**
 * Version of this header: major.
 */
#define TILEWAVE_VERSION_MAJOR 0

/**
 * Version of this header: minor.
 */
#define TILEWAVE_VERSION_MINOR 1

/**
 * Version of this header: patch.
 */
#define TILEWAVE_VERSION_PATCH 0

/**
 * Version of this header as one number: major * 10000 + minor * 100 + patch.
 */
#define TILEWAVE_VERSION_NUMBER 100

/**
 * Flag of the open functions, 0: read the whole file into memory and check it.
 */
#define TILEWAVE_OPEN_READ 0

/**
 * Flag of the open functions: map the file and check it. Processes that map a file share its memory. Nobody may shorten
 * the file while it is open.
 */
#define TILEWAVE_OPEN_MAP 1

/**
 * Flag of tilewave_table_open(): read and check only the parts of the file that are asked for.
 */
#define TILEWAVE_OPEN_LAZY 2

/**
 * What a function that can fail returns. tilewave_last_message() has the details.
 */
typedef enum {
  /**
   * Success.
   */
  TILEWAVE_STATUS_OK = 0,
  /**
   * A wrong argument: a NULL pointer, an unknown flag, a path that is not UTF-8.
   */
  TILEWAVE_STATUS_MISUSE = 1,
  /**
   * The system refused to open or read the file.
   */
  TILEWAVE_STATUS_IO = 2,
  /**
   * The file is something else.
   */
  TILEWAVE_STATUS_NOT_SUCH_A_FILE = 3,
  /**
   * The file is of a version that this library does not read.
   */
  TILEWAVE_STATUS_VERSION = 4,
  /**
   * The file is damaged.
   */
  TILEWAVE_STATUS_DAMAGED = 5,
  /**
   * There is not enough memory, or there are no threads to be had.
   */
  TILEWAVE_STATUS_MEMORY = 6,
  /**
   * The file is intact, but this interface has no use for it: a table of a puzzle that is not a board.
   */
  TILEWAVE_STATUS_UNSUPPORTED = 7,
} TilewaveStatus;

/**
 * Kind of a database.
 */
typedef enum {
  /**
   * One value per placement, the least over the cells of the blank. Admissible, not consistent.
   */
  TILEWAVE_KIND_ADDITIVE_MIN = 0,
  /**
   * One value per placement and region of the blank. Consistent.
   */
  TILEWAVE_KIND_REGION_AWARE = 1,
  /**
   * One value per placement of the tiles and the blank, tile 0 of the pattern, every move counted. Not additive.
   */
  TILEWAVE_KIND_ALL_MOVES = 2,
} TilewaveKind;

/**
 * Encoding of a database.
 */
typedef enum {
  /**
   * One byte per entry, 255 for none.
   */
  TILEWAVE_ENCODING_BYTE = 0,
  /**
   * One bit per entry, the first in the lowest bit of a byte: (value div 2) mod 2.
   */
  TILEWAVE_ENCODING_BIT = 2,
} TilewaveEncoding;

/**
 * Negative values of boards and placements.
 */
typedef enum {
  /**
   * The board, the placement or the state is not one of this database or table.
   */
  TILEWAVE_ANSWER_INVALID = -1,
  /**
   * The goal cannot be reached, or a table of the first depths does not have the board.
   */
  TILEWAVE_ANSWER_UNREACHABLE = -2,
  /**
   * The file could not be read, or is damaged: tilewave_last_message() has the details.
   */
  TILEWAVE_ANSWER_FAILED = -3,
} TilewaveAnswer;

/**
 * An open pattern database.
 */
typedef struct TilewavePdb TilewavePdb;

/**
 * An open pruning table.
 */
typedef struct TilewavePruning TilewavePruning;

/**
 * An open distance table.
 */
typedef struct TilewaveTable TilewaveTable;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * Returns the version of the library, for example "0.1.0" (static storage).
 */
TILEWAVE_API const char *tilewave_version(void);

/**
 * Returns the version of the library as one number, to be compared with TILEWAVE_VERSION_NUMBER.
 */
TILEWAVE_API int tilewave_version_number(void);

/**
 * Returns what a status means, in a few words (static storage).
 */
TILEWAVE_API const char *tilewave_status_text(int status);

/**
 * Returns the message of the last failure on this thread, or "" where there was none. It is valid until the next failure
 * on this thread.
 */
TILEWAVE_API
const char *tilewave_last_message(void);

/**
 * Limits the threads that read files and look up many boards: 1 to 1024, or 0 for one per core, the default. For all
 * threads of the process; look-ups that run keep theirs.
 */
TILEWAVE_API
TilewaveStatus tilewave_set_threads(unsigned int threads);

/**
 * Opens a database file.
 *
 * @param path The file.
 * @param flags TILEWAVE_OPEN_READ or TILEWAVE_OPEN_MAP.
 * @param out Receives the database, NULL on failure. Close it with tilewave_pdb_close().
 */
TILEWAVE_API
TilewaveStatus tilewave_pdb_open(const char *path,
                                 unsigned int flags,
                                 TilewavePdb **out);

/**
 * Closes a database, which may be NULL.
 */
TILEWAVE_API void tilewave_pdb_close(TilewavePdb *pdb);

/**
 * Returns the value of a board, or a negative TilewaveAnswer.
 *
 * @param tiles The tiles in row-major order, 0 for the blank.
 * @param count Number of tiles: rows times columns.
 */
TILEWAVE_API int tilewave_pdb_value(const TilewavePdb *pdb, const uint16_t *tiles, size_t count);

/**
 * Looks up the values of many boards, on all threads.
 *
 * @param tiles The tiles of the boards, one board after the other.
 * @param boards Number of boards.
 * @param values Receives a value for each board: those of tilewave_pdb_value().
 */
TILEWAVE_API
TilewaveStatus tilewave_pdb_values(const TilewavePdb *pdb,
                                   const uint16_t *tiles,
                                   size_t boards,
                                   int16_t *values);

/**
 * Returns the value of a placement, or a negative TilewaveAnswer.
 *
 * @param cells The row-major cells of the pattern's tiles, in increasing order of the tiles.
 * @param count Number of tiles of the pattern.
 * @param blank The cell of the blank, which must be free. It changes values of region-aware databases only. Where every
 * move counts, tile 0 of the pattern is the blank, and both give the same cell.
 */
TILEWAVE_API
int tilewave_pdb_lookup(const TilewavePdb *pdb,
                        const uint8_t *cells,
                        size_t count,
                        uint8_t blank);

/**
 * Returns the entry of a placement in tilewave_pdb_data(), or UINT64_MAX for what is no placement. Arguments as of
 * tilewave_pdb_lookup().
 */
TILEWAVE_API
uint64_t tilewave_pdb_entry(const TilewavePdb *pdb,
                            const uint8_t *cells,
                            size_t count,
                            uint8_t blank);

/**
 * Returns the number of rows of the board, 0 for NULL.
 */
TILEWAVE_API size_t tilewave_pdb_rows(const TilewavePdb *pdb);

/**
 * Returns the number of columns of the board, 0 for NULL.
 */
TILEWAVE_API size_t tilewave_pdb_columns(const TilewavePdb *pdb);

/**
 * Returns the number of cells of the board and writes as much of the goal as `capacity` allows to
 * `tiles`, which may be NULL: row-major, 0 for the blank.
 */
TILEWAVE_API size_t tilewave_pdb_goal(const TilewavePdb *pdb, uint16_t *tiles, size_t capacity);

/**
 * Returns the number of tiles of the pattern and writes as many of their numbers as `capacity` allows,
 * in increasing order, to `tiles`, which may be NULL.
 */
TILEWAVE_API
size_t tilewave_pdb_tiles(const TilewavePdb *pdb,
                          uint16_t *tiles,
                          size_t capacity);

/**
 * Returns the kind of a database.
 */
TILEWAVE_API TilewaveKind tilewave_pdb_kind(const TilewavePdb *pdb);

/**
 * Returns the encoding of a database.
 */
TILEWAVE_API TilewaveEncoding tilewave_pdb_encoding(const TilewavePdb *pdb);

/**
 * Returns the number of entries, 0 for NULL.
 */
TILEWAVE_API uint64_t tilewave_pdb_entries(const TilewavePdb *pdb);

/**
 * Returns the largest value, 0 for NULL.
 */
TILEWAVE_API int tilewave_pdb_maximum(const TilewavePdb *pdb);

/**
 * Returns the entries as they are in the file (docs/format.md), valid until the database is closed, and
 * writes their length in bytes to `bytes`, which may be NULL.
 */
TILEWAVE_API
const uint8_t *tilewave_pdb_data(const TilewavePdb *pdb,
                                 size_t *bytes);

/**
 * Opens the table file of a board.
 *
 * @param path The file.
 * @param flags TILEWAVE_OPEN_READ, TILEWAVE_OPEN_MAP, or TILEWAVE_OPEN_LAZY for a few look-ups in a large table.
 * @param out Receives the table, NULL on failure. Close it with tilewave_table_close().
 */
TILEWAVE_API
TilewaveStatus tilewave_table_open(const char *path,
                                   unsigned int flags,
                                   TilewaveTable **out);

/**
 * Closes a table, which may be NULL.
 */
TILEWAVE_API void tilewave_table_close(TilewaveTable *table);

/**
 * Returns the depth of a board, or a negative TilewaveAnswer.
 *
 * @param tiles The tiles in row-major order, 0 for the blank.
 * @param count Number of tiles: rows times columns.
 */
TILEWAVE_API
int tilewave_table_depth(const TilewaveTable *table,
                         const uint16_t *tiles,
                         size_t count);

/**
 * Looks up the depths of many boards, on all threads.
 *
 * @param tiles The tiles of the boards, one board after the other.
 * @param boards Number of boards.
 * @param depths Receives a depth for each board: those of tilewave_table_depth().
 */
TILEWAVE_API
TilewaveStatus tilewave_table_depths(const TilewaveTable *table,
                                     const uint16_t *tiles,
                                     size_t boards,
                                     int16_t *depths);

/**
 * Returns the number of moves of a shortest solution of a board in the table's metric, or a negative TilewaveAnswer.
 *
 * @param tiles The tiles in row-major order, 0 for the blank.
 * @param count Number of tiles: rows times columns.
 * @param moves Receives the moves, at most capacity - 1 of them and a NUL: the letters U, D, L, R say where a tile goes,
 * one for every tile. May be NULL. Nothing is written when the answer is negative.
 * @param capacity Bytes of `moves`.
 */
TILEWAVE_API
int tilewave_table_solve(const TilewaveTable *table,
                         const uint16_t *tiles,
                         size_t count,
                         char *moves,
                         size_t capacity);

/**
 * Returns the number of rows of the board, 0 for NULL.
 */
TILEWAVE_API size_t tilewave_table_rows(const TilewaveTable *table);

/**
 * Returns the number of columns of the board, 0 for NULL.
 */
TILEWAVE_API size_t tilewave_table_columns(const TilewaveTable *table);

/**
 * Returns the number of cells of the board and writes as much of the goal as `capacity` allows to
 * `tiles`, which may be NULL: row-major, 0 for the blank.
 */
TILEWAVE_API
size_t tilewave_table_goal(const TilewaveTable *table,
                           uint16_t *tiles,
                           size_t capacity);

/**
 * Returns the largest depth in the table, 0 for NULL.
 */
TILEWAVE_API int tilewave_table_maximum(const TilewaveTable *table);

/**
 * Opens the file of a pruning table: of a cube or other puzzle, or of some of its pieces.
 *
 * @param path The file. All of it is read and checked.
 * @param out Receives the table, NULL on failure. Close it with tilewave_pruning_close().
 */
TILEWAVE_API TilewaveStatus tilewave_pruning_open(const char *path, TilewavePruning **out);

/**
 * Closes a table, which may be NULL.
 */
TILEWAVE_API void tilewave_pruning_close(TilewavePruning *table);

/**
 * Returns the depth of a state of the table's puzzle, or a negative TilewaveAnswer. For what is not a state,
 * tilewave_last_message() says why.
 *
 * @param state Moves from the solved state, "R U2 (R' F)3", or what stands where: "corners 2 1 3 ../0 0 1 ..".
 */
TILEWAVE_API
int tilewave_pruning_depth(const TilewavePruning *table,
                           const char *state);

/**
 * Returns the largest depth in the table, 0 for NULL.
 */
TILEWAVE_API int tilewave_pruning_maximum(const TilewavePruning *table);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* TILEWAVE_H */
