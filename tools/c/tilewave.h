/* The C interface of tilewave: pattern databases and distance tables. How to build and link: tools/c/README.md.
 *
 * Every pointer is NULL or points at as many elements as the count or capacity beside it says; what a NULL
 * means is said where it means something, elsewhere the answer is TILEWAVE_INVALID or 0. A database or a table
 * may be used by several threads at once, until it is closed.
 *
 * Made by cbindgen from src/capi; do not edit. Make it again: TILEWAVE_UPDATE=1 cargo test --test suite c_header */

#ifndef TILEWAVE_H
#define TILEWAVE_H

#include <stddef.h>
#include <stdint.h>

/*
 Version of this header: major.
 */
#define TILEWAVE_VERSION_MAJOR 0

/*
 Version of this header: minor.
 */
#define TILEWAVE_VERSION_MINOR 1

/*
 Version of this header: patch.
 */
#define TILEWAVE_VERSION_PATCH 0

/*
 The board or the cells are not of this database or table, or a file turned out to be damaged.
 */
#define TILEWAVE_INVALID -1

/*
 No board that can reach the goal has this placement, or the board cannot reach it.
 */
#define TILEWAVE_UNREACHABLE -2

/*
 Kind of a database: one value per placement, the least over the cells of the blank. Admissible, not
 consistent.
 */
#define TILEWAVE_KIND_ADDITIVE_MIN 0

/*
 Kind of a database: one value per placement and region of the blank. Consistent.
 */
#define TILEWAVE_KIND_REGION_AWARE 1

/*
 Kind of a database: one value per placement of the tiles and the blank, tile 0 of the pattern, every move counted. Not
 additive.
 */
#define TILEWAVE_KIND_ALL_MOVES 2

/*
 Encoding of a database: one byte per entry, 255 for none.
 */
#define TILEWAVE_ENCODING_BYTE 0

/*
 Encoding of a database: one bit per entry, the first in the lowest bit of a byte: (value div 2) mod 2.
 */
#define TILEWAVE_ENCODING_BIT 2

/*
 An open pattern database.
 */
typedef struct TilewavePdb TilewavePdb;

/*
 An open distance table.
 */
typedef struct TilewaveTable TilewaveTable;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/*
 Returns the version of the library, for example "0.1.0": a text that stays.
 */
const char *tilewave_version(void);

/*
 Opens a database file and returns it, or NULL. On failure a message of at most `capacity - 1` bytes is
 written to `message`, which may be NULL.
 */
TilewavePdb *tilewave_pdb_open(const char *path,
                               char *message,
                               size_t capacity);

/*
 Closes a database, which may be NULL.
 */
void tilewave_pdb_close(TilewavePdb *pdb);

/*
 Returns the value of a board: `count` tiles in row-major order, 0 for the blank. Negative:
 TILEWAVE_INVALID, TILEWAVE_UNREACHABLE.
 */
int tilewave_pdb_value(const TilewavePdb *pdb, const uint16_t *tiles, size_t count);

/*
 Writes the values of many boards, looked up with all cores, and returns how many there are: `count`
 tiles of boards one after the other, which is a multiple of rows times columns. Returns 0 and writes
 nothing when it is none, or `capacity` is too small. Values are those of tilewave_pdb_value.
 */
size_t tilewave_pdb_values(const TilewavePdb *pdb,
                           const uint16_t *tiles,
                           size_t count,
                           int *values,
                           size_t capacity);

/*
 Returns the value of a placement: the row-major cells of the pattern's tiles in increasing order of
 their numbers, `count` of them, and the cell of the blank (which matters in region-aware databases only, but
 must be free). Where every move counts, tile 0 of the pattern is the blank, and both say the same cell.
 Negative: TILEWAVE_INVALID, TILEWAVE_UNREACHABLE.
 */
int tilewave_pdb_lookup(const TilewavePdb *pdb,
                        const uint8_t *cells,
                        size_t count,
                        uint8_t blank);

/*
 Returns the number of rows of the board, 0 for NULL.
 */
size_t tilewave_pdb_rows(const TilewavePdb *pdb);

/*
 Returns the number of columns of the board, 0 for NULL.
 */
size_t tilewave_pdb_columns(const TilewavePdb *pdb);

/*
 Returns the number of cells of the board and writes as much of the goal as `capacity` allows to
 `tiles`, which may be NULL: row-major, 0 for the blank.
 */
size_t tilewave_pdb_goal(const TilewavePdb *pdb, uint16_t *tiles, size_t capacity);

/*
 Returns the number of tiles of the pattern and writes as many of their numbers as `capacity` allows,
 in increasing order, to `tiles`, which may be NULL.
 */
size_t tilewave_pdb_tiles(const TilewavePdb *pdb,
                          uint16_t *tiles,
                          size_t capacity);

/*
 Returns TILEWAVE_KIND_ADDITIVE_MIN, TILEWAVE_KIND_REGION_AWARE or TILEWAVE_KIND_ALL_MOVES.
 */
int tilewave_pdb_kind(const TilewavePdb *pdb);

/*
 Returns TILEWAVE_ENCODING_BYTE or TILEWAVE_ENCODING_BIT.
 */
int tilewave_pdb_encoding(const TilewavePdb *pdb);

/*
 Returns the number of entries, 0 for NULL.
 */
uint64_t tilewave_pdb_entries(const TilewavePdb *pdb);

/*
 Returns the largest value, 0 for NULL.
 */
int tilewave_pdb_maximum(const TilewavePdb *pdb);

/*
 Returns the entries as they are in the file (docs/format.md), valid until the database is closed, and
 writes their length in bytes to `bytes`, which may be NULL.
 */
const uint8_t *tilewave_pdb_data(const TilewavePdb *pdb,
                                 size_t *bytes);

/*
 Opens the table file of a board and returns it, or NULL. On failure a message of at most `capacity - 1` bytes is
 written to `message`, which may be NULL.
 */
TilewaveTable *tilewave_table_open(const char *path,
                                   char *message,
                                   size_t capacity);

/*
 Closes a table, which may be NULL.
 */
void tilewave_table_close(TilewaveTable *table);

/*
 Returns the depth of a board: `count` tiles in row-major order, 0 for the blank. Negative:
 TILEWAVE_INVALID, also for a damaged table, and TILEWAVE_UNREACHABLE, also for a board of a depth that a table of
 some depths only does not have.
 */
int tilewave_table_depth(const TilewaveTable *table,
                         const uint16_t *tiles,
                         size_t count);

/*
 Writes the depths of many boards, looked up with all cores, and returns how many there are: `count`
 tiles of boards one after the other, which is a multiple of rows times columns. Returns 0 and writes
 nothing when it is none, or `capacity` is too small. Depths are those of tilewave_table_depth.
 */
size_t tilewave_table_depths(const TilewaveTable *table,
                             const uint16_t *tiles,
                             size_t count,
                             int *depths,
                             size_t capacity);

/*
 Returns the number of moves of a shortest solution of a board in the table's metric, and writes its moves
 to `moves`: the letters U, D, L, R say where the tile goes, one for every tile; at most `capacity - 1` of
 them and a NUL. `moves` may be NULL. Negative as for tilewave_table_depth, with nothing written.
 */
int tilewave_table_solve(const TilewaveTable *table,
                         const uint16_t *tiles,
                         size_t count,
                         char *moves,
                         size_t capacity);

/*
 Returns the number of rows of the board, 0 for NULL.
 */
size_t tilewave_table_rows(const TilewaveTable *table);

/*
 Returns the number of columns of the board, 0 for NULL.
 */
size_t tilewave_table_columns(const TilewaveTable *table);

/*
 Returns the number of cells of the board and writes as much of the goal as `capacity` allows to
 `tiles`, which may be NULL: row-major, 0 for the blank.
 */
size_t tilewave_table_goal(const TilewaveTable *table, uint16_t *tiles, size_t capacity);

/*
 Returns the largest depth in the table, 0 for NULL.
 */
int tilewave_table_maximum(const TilewaveTable *table);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* TILEWAVE_H */
