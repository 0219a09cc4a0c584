/* The C interface of tilewave: pattern databases and distance tables. Made by cbindgen from src/capi*; do not edit.
 * Make it again: TILEWAVE_UPDATE=1 cargo test --test pdb c_header */

#ifndef TILEWAVE_H
#define TILEWAVE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

// The board or the cells are not of this database or table.
#define TILEWAVE_INVALID -1

// No board that can reach the goal has this placement.
#define TILEWAVE_UNREACHABLE -2

// How depths are stored.
typedef struct Encoding Encoding;

// An open pattern database.
typedef struct TilewavePdb TilewavePdb;

// An open distance table.
typedef struct TilewaveTable TilewaveTable;



#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Maps a database file and returns it, or NULL. On failure a message of at most `capacity - 1` bytes is
// written to `message`, which may be NULL.
//
// # Safety
// `path` is a NUL-terminated string; `message` is NULL or has room for `capacity` bytes.
TilewavePdb *tilewave_pdb_open(const char *path,
                               char *message,
                               size_t capacity);

// Returns the value of a board: `count` tiles in row-major order, 0 for the blank. Negative:
// `TILEWAVE_INVALID`, `TILEWAVE_UNREACHABLE`.
//
// # Safety
// `pdb` is open; `tiles` points at `count` numbers.
int tilewave_pdb_value(const TilewavePdb *pdb, const uint16_t *tiles, size_t count);

// Returns the value of a placement: the row-major cells of the pattern's tiles in increasing order of
// their numbers, and the cell of the blank (which matters in region-aware databases only, but must be
// free). Negative: `TILEWAVE_INVALID`, `TILEWAVE_UNREACHABLE`.
//
// # Safety
// `pdb` is open; `cells` points at as many cells as the pattern has tiles.
int tilewave_pdb_lookup(const TilewavePdb *pdb,
                        const uint8_t *cells,
                        uint8_t blank);

// Returns the number of tiles of the pattern and writes their numbers, in increasing order, to `tiles`,
// which may be NULL.
//
// # Safety
// `pdb` is open; `tiles` is NULL or has room for 8 numbers.
size_t tilewave_pdb_tiles(const TilewavePdb *pdb,
                          uint16_t *tiles);

// Returns the number of entries, 0 for NULL.
//
// # Safety
// `pdb` is open.
uint64_t tilewave_pdb_entries(const TilewavePdb *pdb);

// Returns the entries as they are in the file (docs/format.md), valid until the database is closed.
//
// # Safety
// `pdb` is open.
const uint8_t *tilewave_pdb_data(const TilewavePdb *pdb);

// Closes a database. NULL is allowed.
//
// # Safety
// `pdb` is open or NULL, and not used afterwards.
void tilewave_pdb_close(TilewavePdb *pdb);

// Maps a table file and returns it, or NULL. On failure a message of at most `capacity - 1` bytes is
// written to `message`, which may be NULL.
//
// # Safety
// `path` is a NUL-terminated string; `message` is NULL or has room for `capacity` bytes.
TilewaveTable *tilewave_table_open(const char *path,
                                   char *message,
                                   size_t capacity);

// Returns the depth of a board: `count` tiles in row-major order, 0 for the blank. Negative:
// `TILEWAVE_INVALID`, also for a damaged table, and `TILEWAVE_UNREACHABLE`.
//
// # Safety
// `table` is open or NULL; `tiles` is NULL or points at `count` numbers.
int tilewave_table_depth(const TilewaveTable *table, const uint16_t *tiles, size_t count);

// Returns the length of a shortest solution of a board, and writes its moves to `moves`: the letters U, D,
// L, R say where the tile goes; at most `capacity - 1` of them and a NUL. `moves` may be NULL. Negative as
// for `tilewave_table_depth`, with nothing written.
//
// # Safety
// `table` is open or NULL; `tiles` is NULL or points at `count` numbers; `moves` is NULL or has room for
// `capacity` bytes.
int tilewave_table_solve(const TilewaveTable *table,
                         const uint16_t *tiles,
                         size_t count,
                         char *moves,
                         size_t capacity);

// Returns the number of cells of the board and writes the goal, row-major with 0 for the blank, to
// `tiles`, which may be NULL. 0 for NULL.
//
// # Safety
// `table` is open or NULL; `tiles` is NULL or has room for 16 numbers.
size_t tilewave_table_goal(const TilewaveTable *table, uint16_t *tiles);

// Closes a table. NULL is allowed.
//
// # Safety
// `table` is open or NULL, and not used afterwards.
void tilewave_table_close(TilewaveTable *table);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* TILEWAVE_H */
