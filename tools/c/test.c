/* Calls every function of tilewave.h, with what they should take and what they should refuse. Arguments: an additive
 * database and a distance table, both of 3x3 boards, a table of 2x3 boards that ends at some depth, damaged files of the
 * first two kinds, a pruning table of 2x2x2 corners:1-3, and databases in which every move counts. Run by tests/pdb/c.rs
 * under AddressSanitizer; it also is C++, and compiles for Windows. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifndef _WIN32
#include <sys/wait.h>
#include <unistd.h>
#endif

#include "tilewave.h"

#define CHECK(condition)                                                      \
    do {                                                                      \
        if (!(condition)) {                                                   \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);   \
            return 1;                                                         \
        }                                                                     \
    } while (0)

/* Buffers of the very size that is announced, so that one byte too many is found. */
static void *room(size_t bytes) { return malloc(bytes); }

static int versions(void) {
    char text[32];
    int i;
    sprintf(text, "%d.%d.%d", TILEWAVE_VERSION_MAJOR, TILEWAVE_VERSION_MINOR, TILEWAVE_VERSION_PATCH);
    CHECK(strcmp(text, tilewave_version()) == 0);
    CHECK(tilewave_version_number() == TILEWAVE_VERSION_NUMBER);
    CHECK(TILEWAVE_VERSION_NUMBER == 10000 * TILEWAVE_VERSION_MAJOR + 100 * TILEWAVE_VERSION_MINOR + TILEWAVE_VERSION_PATCH);
    CHECK(strcmp(tilewave_status_text(TILEWAVE_STATUS_OK), "success") == 0);
    for (i = TILEWAVE_STATUS_OK; i <= TILEWAVE_STATUS_UNSUPPORTED + 1; i++)
        CHECK(strlen(tilewave_status_text(i)) > 5);
    CHECK(strcmp(tilewave_last_message(), "") == 0);
    CHECK(tilewave_set_threads(1025) == TILEWAVE_STATUS_MISUSE && strlen(tilewave_last_message()) > 0);
    CHECK(tilewave_set_threads(1) == TILEWAVE_STATUS_OK && tilewave_set_threads(0) == TILEWAVE_STATUS_OK);
    return 0;
}

static int databases(const char *path, const char *other, const char *damaged, unsigned flags) {
    TilewavePdb *pdb = (TilewavePdb *)path;
    uint16_t goal[9], tiles[8], *few = (uint16_t *)room(2 * sizeof *few);
    uint16_t *boards = (uint16_t *)room(27 * sizeof *boards);
    uint8_t cells[8];
    int16_t *values = (int16_t *)room(3 * sizeof *values);
    uint64_t entry;
    size_t i, k, bytes = 0;

    CHECK(tilewave_pdb_open("no such file", TILEWAVE_OPEN_READ, &pdb) == TILEWAVE_STATUS_IO && pdb == NULL);
    CHECK(strstr(tilewave_last_message(), "cannot open 'no such file'") != NULL);
    CHECK(tilewave_pdb_open("no such file", TILEWAVE_OPEN_MAP, &pdb) == TILEWAVE_STATUS_IO);
    CHECK(tilewave_pdb_open(NULL, TILEWAVE_OPEN_READ, &pdb) == TILEWAVE_STATUS_MISUSE);
    CHECK(tilewave_pdb_open(path, TILEWAVE_OPEN_LAZY, &pdb) == TILEWAVE_STATUS_MISUSE);
    CHECK(tilewave_pdb_open(path, 77, &pdb) == TILEWAVE_STATUS_MISUSE);
    CHECK(tilewave_pdb_open(path, TILEWAVE_OPEN_READ, NULL) == TILEWAVE_STATUS_MISUSE);
    CHECK(tilewave_pdb_open(other, TILEWAVE_OPEN_READ, &pdb) == TILEWAVE_STATUS_NOT_SUCH_A_FILE && pdb == NULL);
    CHECK(tilewave_pdb_open(damaged, TILEWAVE_OPEN_READ, &pdb) == TILEWAVE_STATUS_DAMAGED);
    CHECK(tilewave_pdb_open(damaged, TILEWAVE_OPEN_MAP, &pdb) == TILEWAVE_STATUS_DAMAGED);
    CHECK(tilewave_pdb_open(path, flags, &pdb) == TILEWAVE_STATUS_OK && pdb != NULL);
    CHECK(tilewave_pdb_rows(pdb) == 3 && tilewave_pdb_columns(pdb) == 3);
    CHECK(tilewave_pdb_rows(NULL) == 0 && tilewave_pdb_columns(NULL) == 0);
    CHECK(tilewave_pdb_kind(pdb) == TILEWAVE_KIND_ADDITIVE_MIN || tilewave_pdb_kind(pdb) == TILEWAVE_KIND_REGION_AWARE);
    CHECK(tilewave_pdb_encoding(pdb) == TILEWAVE_ENCODING_BYTE ||
          tilewave_pdb_encoding(pdb) == TILEWAVE_ENCODING_BIT);
    CHECK(tilewave_pdb_kind(NULL) == 0 && tilewave_pdb_encoding(NULL) == 0);
    CHECK(tilewave_pdb_goal(pdb, goal, 9) == 9 && tilewave_pdb_goal(pdb, NULL, 9) == 9);
    CHECK(tilewave_pdb_goal(pdb, few, 2) == 9 && few[0] == goal[0] && few[1] == goal[1]);
    CHECK(tilewave_pdb_goal(NULL, goal, 9) == 0);
    k = tilewave_pdb_tiles(pdb, tiles, 8);
    CHECK(k > 2 && k <= 8 && tilewave_pdb_tiles(pdb, NULL, 0) == k);
    CHECK(tilewave_pdb_tiles(pdb, few, 2) == k && few[1] == tiles[1] && tilewave_pdb_tiles(NULL, few, 2) == 0);
    CHECK(tilewave_pdb_entries(pdb) > 0 && tilewave_pdb_entries(NULL) == 0);
    CHECK(tilewave_pdb_maximum(pdb) > 0 && tilewave_pdb_maximum(NULL) == 0);
    CHECK(tilewave_pdb_data(pdb, NULL) != NULL && tilewave_pdb_data(NULL, &bytes) == NULL && bytes == 0);
    CHECK(tilewave_pdb_data(pdb, &bytes) != NULL && bytes >= (tilewave_pdb_entries(pdb) + 7) / 8);

    CHECK(tilewave_pdb_value(pdb, goal, 9) == 0);
    CHECK(tilewave_pdb_value(pdb, goal, 8) == TILEWAVE_ANSWER_INVALID);
    CHECK(strstr(tilewave_last_message(), "3x3 needs 9") != NULL);
    CHECK(tilewave_pdb_value(pdb, NULL, 9) == TILEWAVE_ANSWER_INVALID);
    CHECK(tilewave_pdb_value(NULL, goal, 9) == TILEWAVE_ANSWER_INVALID);
    for (i = 0; i < 27; i++)
        boards[i] = goal[i % 9];
    boards[9] = boards[10]; /* a tile twice */
    boards[18] = goal[1];   /* two tiles exchanged */
    boards[19] = goal[0];
    CHECK(tilewave_pdb_values(pdb, boards, 3, values) == TILEWAVE_STATUS_OK);
    CHECK(values[0] == 0 && values[1] == TILEWAVE_ANSWER_INVALID);
    CHECK(values[2] == tilewave_pdb_value(pdb, boards + 18, 9));
    CHECK(tilewave_pdb_values(pdb, NULL, 3, values) == TILEWAVE_STATUS_MISUSE);
    CHECK(tilewave_pdb_values(pdb, boards, 3, NULL) == TILEWAVE_STATUS_MISUSE);
    CHECK(tilewave_pdb_values(pdb, boards, (size_t)-1, values) == TILEWAVE_STATUS_MISUSE);
    CHECK(tilewave_pdb_values(NULL, boards, 3, values) == TILEWAVE_STATUS_MISUSE);
    CHECK(tilewave_pdb_values(pdb, NULL, 0, NULL) == TILEWAVE_STATUS_OK);

    for (i = 0; i < 9; i++) {
        size_t t;
        for (t = 0; t < k; t++)
            if (tiles[t] == goal[i])
                cells[t] = (uint8_t)i;
    }
    for (i = 0; goal[i] != 0; i++) {
    }
    CHECK(tilewave_pdb_lookup(pdb, cells, k, (uint8_t)i) == 0);
    CHECK(tilewave_pdb_lookup(pdb, cells, k, cells[0]) == TILEWAVE_ANSWER_INVALID);
    CHECK(tilewave_pdb_lookup(pdb, cells, k, 9) == TILEWAVE_ANSWER_INVALID);
    CHECK(tilewave_pdb_lookup(pdb, cells, k - 1, (uint8_t)i) == TILEWAVE_ANSWER_INVALID);
    CHECK(tilewave_pdb_lookup(pdb, NULL, k, (uint8_t)i) == TILEWAVE_ANSWER_INVALID);
    CHECK(tilewave_pdb_lookup(NULL, cells, k, (uint8_t)i) == TILEWAVE_ANSWER_INVALID);
    entry = tilewave_pdb_entry(pdb, cells, k, (uint8_t)i);
    CHECK(entry < tilewave_pdb_entries(pdb));
    if (tilewave_pdb_encoding(pdb) == TILEWAVE_ENCODING_BYTE)
        CHECK(tilewave_pdb_data(pdb, NULL)[entry] == 0);
    CHECK(tilewave_pdb_entry(pdb, cells, k, 9) == UINT64_MAX);
    CHECK(tilewave_pdb_entry(NULL, cells, k, (uint8_t)i) == UINT64_MAX);
    tilewave_pdb_close(pdb);
    tilewave_pdb_close(NULL);
    free(few), free(boards), free(values);
    return 0;
}

/* Where tile t of a board stands. */
static uint8_t cell_of(const uint16_t *board, uint16_t tile) {
    uint8_t cell = 0;
    while (board[cell] != tile)
        cell++;
    return cell;
}

/* A database in which every move counts: tile 0 of its pattern is the blank, whose cell is said twice. */
static int every_move(const char *path) {
    enum { MOST = 36 };
    static const int DOWN[4] = {1, -1, 0, 0}, RIGHT[4] = {0, 0, 1, -1};
    TilewavePdb *pdb = NULL;
    TilewaveStatus status = tilewave_pdb_open(path, TILEWAVE_OPEN_READ, &pdb);
    uint16_t board[MOST], tiles[8];
    size_t rows = tilewave_pdb_rows(pdb), columns = tilewave_pdb_columns(pdb), count = rows * columns, k, t;
    uint32_t random = 1;
    int step, largest = 0;

    CHECK(status == TILEWAVE_STATUS_OK && tilewave_pdb_kind(pdb) == TILEWAVE_KIND_ALL_MOVES);
    CHECK(tilewave_pdb_goal(pdb, board, MOST) == count && count <= MOST);
    k = tilewave_pdb_tiles(pdb, tiles, 8);
    CHECK(k >= 2 && k <= 8 && k <= count && tiles[0] == 0);
    for (step = 0; step < 5000; step++) {
        uint8_t *cells = (uint8_t *)room(k);
        uint8_t blank = cell_of(board, 0), cell;
        int value = tilewave_pdb_value(pdb, board, count), row, column;
        for (t = 0; t < k; t++)
            cells[t] = cell_of(board, tiles[t]);
        CHECK(value >= 0 && value <= tilewave_pdb_maximum(pdb) && (step > 0 || value == 0));
        CHECK(tilewave_pdb_lookup(pdb, cells, k, blank) == value);
        largest = value > largest ? value : largest;
        /* No other cell is that of the blank, whether a tile of the pattern stands there or not. */
        for (cell = 0; cell < count; cell++) {
            if (cell != blank)
                CHECK(tilewave_pdb_lookup(pdb, cells, k, cell) == TILEWAVE_ANSWER_INVALID);
        }
        CHECK(tilewave_pdb_lookup(pdb, cells, k, (uint8_t)count) == TILEWAVE_ANSWER_INVALID);
        CHECK(tilewave_pdb_lookup(pdb, cells, k - 1, blank) == TILEWAVE_ANSWER_INVALID);
        CHECK(tilewave_pdb_lookup(pdb, cells + 1, k - 1, blank) == TILEWAVE_ANSWER_INVALID);
        cells[1] = blank; /* two on one cell */
        CHECK(tilewave_pdb_lookup(pdb, cells, k, blank) == TILEWAVE_ANSWER_INVALID);
        free(cells);
        random = random * 1664525 + 1013904223;
        row = (int)(blank / columns) + DOWN[random >> 30];
        column = (int)(blank % columns) + RIGHT[random >> 30];
        if (row >= 0 && row < (int)rows && column >= 0 && column < (int)columns) {
            cell = (uint8_t)((size_t)row * columns + (size_t)column);
            board[blank] = board[cell];
            board[cell] = 0;
        }
    }
    /* The walk has gone somewhere. */
    CHECK(largest > 10);
    tilewave_pdb_close(pdb);
    return 0;
}

/* A forked process has no threads but the one that forked: look-ups of many boards take new ones. */
#ifdef _WIN32
static int forks(const char *path) { return path == NULL; /* Windows has no forks */ }
#else
static int forks(const char *path) {
    enum { BOARDS = 20000 };
    TilewavePdb *pdb = NULL;
    TilewaveStatus opened = tilewave_pdb_open(path, TILEWAVE_OPEN_READ, &pdb);
    uint16_t *boards = (uint16_t *)room(9 * BOARDS * sizeof *boards);
    int16_t *values = (int16_t *)room(BOARDS * sizeof *values);
    int status;
    size_t i;
    pid_t child;

    CHECK(opened == TILEWAVE_STATUS_OK && tilewave_pdb_goal(pdb, boards, 9) == 9);
    for (i = 9; i < 9 * BOARDS; i++)
        boards[i] = boards[i - 9];
    CHECK(tilewave_pdb_values(pdb, boards, BOARDS, values) == TILEWAVE_STATUS_OK);
    CHECK(tilewave_set_threads(2) == TILEWAVE_STATUS_OK);
    CHECK(tilewave_pdb_values(pdb, boards, BOARDS, values) == TILEWAVE_STATUS_OK);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        alarm(60);
        for (i = 0; i < BOARDS; i++)
            values[i] = 1;
        status = tilewave_pdb_values(pdb, boards, BOARDS, values) != TILEWAVE_STATUS_OK;
        for (i = 0; i < BOARDS; i++)
            status |= values[i] != 0;
        _exit(status);
    }
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    tilewave_pdb_close(pdb);
    free(boards), free(values);
    return 0;
}
#endif

static int tables(const char *path, const char *other, const char *damaged, unsigned flags) {
    char *moves = (char *)room(5);
    TilewaveTable *table = (TilewaveTable *)path;
    uint16_t goal[9], boards[18], *few = (uint16_t *)room(2 * sizeof *few);
    int16_t *depths = (int16_t *)room(2 * sizeof *depths);
    size_t i, blank;

    CHECK(tilewave_table_open("no such file", flags, &table) == TILEWAVE_STATUS_IO && table == NULL);
    CHECK(tilewave_table_open(other, flags, &table) == TILEWAVE_STATUS_NOT_SUCH_A_FILE);
    CHECK(tilewave_table_open(path, 3, &table) == TILEWAVE_STATUS_MISUSE);
    CHECK(tilewave_table_open(path, flags, NULL) == TILEWAVE_STATUS_MISUSE);
    if (flags != TILEWAVE_OPEN_LAZY) {
        CHECK(tilewave_table_open(damaged, flags, &table) == TILEWAVE_STATUS_DAMAGED);
    } else {
        CHECK(tilewave_table_open(damaged, flags, &table) == TILEWAVE_STATUS_OK);
        CHECK(tilewave_table_goal(table, goal, 9) == 9);
        CHECK(tilewave_table_depth(table, goal, 9) == TILEWAVE_ANSWER_FAILED);
        CHECK(tilewave_table_solve(table, goal, 9, moves, 5) == TILEWAVE_ANSWER_FAILED);
        CHECK(tilewave_table_depths(table, goal, 1, depths) == TILEWAVE_STATUS_DAMAGED);
        CHECK(strstr(tilewave_last_message(), "damaged") != NULL);
        tilewave_table_close(table);
    }
    CHECK(tilewave_table_open(path, flags, &table) == TILEWAVE_STATUS_OK && table != NULL);
    CHECK(tilewave_table_rows(table) == 3 && tilewave_table_columns(table) == 3);
    CHECK(tilewave_table_rows(NULL) == 0 && tilewave_table_columns(NULL) == 0);
    CHECK(tilewave_table_goal(table, goal, 9) == 9 && tilewave_table_goal(table, NULL, 0) == 9);
    CHECK(tilewave_table_goal(table, few, 2) == 9 && few[1] == goal[1] && tilewave_table_goal(NULL, few, 2) == 0);
    CHECK(tilewave_table_maximum(table) == 31 && tilewave_table_maximum(NULL) == 0);
    CHECK(tilewave_table_depth(table, goal, 9) == 0);
    CHECK(tilewave_table_depth(table, goal, 8) == TILEWAVE_ANSWER_INVALID);
    CHECK(tilewave_table_depth(table, NULL, 9) == TILEWAVE_ANSWER_INVALID);
    CHECK(tilewave_table_depth(NULL, goal, 9) == TILEWAVE_ANSWER_INVALID);
    for (blank = 0; goal[blank] != 0; blank++) {
    }
    for (i = 0; i < 18; i++)
        boards[i] = goal[i % 9];
    boards[blank] = goal[blank < 8 ? blank + 1 : 7]; /* one move beside a border or not */
    boards[blank < 8 ? blank + 1 : 7] = 0;
    CHECK(tilewave_table_depths(table, boards, 2, depths) == TILEWAVE_STATUS_OK);
    CHECK(depths[0] == tilewave_table_depth(table, boards, 9) && depths[1] == 0);
    CHECK(tilewave_table_depths(table, boards, 2, NULL) == TILEWAVE_STATUS_MISUSE);
    CHECK(tilewave_table_depths(NULL, boards, 2, depths) == TILEWAVE_STATUS_MISUSE);
    CHECK(tilewave_table_solve(table, boards, 9, moves, 5) == depths[0]);
    CHECK(strlen(moves) == (size_t)(depths[0] < 4 ? depths[0] : 4));
    CHECK(tilewave_table_solve(table, boards, 9, NULL, 0) == depths[0]);
    CHECK(tilewave_table_solve(table, boards, 7, moves, 5) == TILEWAVE_ANSWER_INVALID);
    CHECK(tilewave_table_solve(NULL, boards, 9, moves, 5) == TILEWAVE_ANSWER_INVALID);
    tilewave_table_close(table);
    tilewave_table_close(NULL);
    free(moves), free(few), free(depths);
    return 0;
}

/* A table that ends before the farthest boards: they have no depth, and no solution is none of no moves. */
static int partial(const char *path) {
    static const uint16_t BOARDS[12] = {1, 2, 3, 4, 0, 5, 4, 5, 0, 1, 2, 3};
    TilewaveTable *table = NULL;
    char *moves = (char *)room(3);
    int16_t depths[2];

    CHECK(tilewave_table_open(path, TILEWAVE_OPEN_LAZY, &table) == TILEWAVE_STATUS_OK);
    CHECK(tilewave_table_maximum(table) == 10);
    CHECK(tilewave_table_depth(table, BOARDS, 6) == 1);
    CHECK(tilewave_table_solve(table, BOARDS, 6, moves, 3) == 1 && strcmp(moves, "L") == 0);
    CHECK(tilewave_table_depth(table, BOARDS + 6, 6) == TILEWAVE_ANSWER_UNREACHABLE);
    CHECK(tilewave_table_solve(table, BOARDS + 6, 6, moves, 3) == TILEWAVE_ANSWER_UNREACHABLE);
    CHECK(strcmp(moves, "L") == 0); /* nothing was written */
    CHECK(tilewave_table_solve(table, BOARDS + 6, 6, NULL, 0) == TILEWAVE_ANSWER_UNREACHABLE);
    CHECK(tilewave_table_depths(table, BOARDS, 2, depths) == TILEWAVE_STATUS_OK);
    CHECK(depths[0] == 1 && depths[1] == TILEWAVE_ANSWER_UNREACHABLE);
    tilewave_table_close(table);
    free(moves);
    return 0;
}

static int pruning(const char *path, const char *other) {
    TilewavePruning *table = NULL;
    CHECK(tilewave_pruning_open("no such file", &table) == TILEWAVE_STATUS_IO && table == NULL);
    CHECK(tilewave_pruning_open(other, &table) == TILEWAVE_STATUS_NOT_SUCH_A_FILE);
    CHECK(tilewave_pruning_open(path, NULL) == TILEWAVE_STATUS_MISUSE);
    CHECK(tilewave_pruning_open(path, &table) == TILEWAVE_STATUS_OK && table != NULL);
    CHECK(tilewave_pruning_maximum(table) > 3 && tilewave_pruning_maximum(NULL) == 0);
    CHECK(tilewave_pruning_depth(table, "R R'") == 0);
    CHECK(tilewave_pruning_depth(table, "R") == 1);
    CHECK(tilewave_pruning_depth(table, "corners 1 2 3 4 4 4 4/0 0 0 0 0 0 0") == 0);
    CHECK(tilewave_pruning_depth(table, "R X") == TILEWAVE_ANSWER_INVALID);
    CHECK(strstr(tilewave_last_message(), "'X' is not a move") != NULL);
    CHECK(tilewave_pruning_depth(table, NULL) == TILEWAVE_ANSWER_INVALID);
    CHECK(strstr(tilewave_last_message(), "NULL") != NULL);
    CHECK(tilewave_pruning_depth(NULL, "R") == TILEWAVE_ANSWER_INVALID);
    tilewave_pruning_close(table);
    tilewave_pruning_close(NULL);
    return 0;
}

int main(int argc, char **argv) {
    int i, failed;
    if (argc < 8) {
        fprintf(stderr, "usage: %s FILE.pdb FILE.table PARTIAL.table DAMAGED.pdb DAMAGED.table PRUNING.table ALL-MOVES.pdb..\n", argv[0]);
        return 2;
    }
    failed = versions() || forks(argv[1]) || partial(argv[3]) || pruning(argv[6], argv[1]);
    for (i = TILEWAVE_OPEN_READ; i <= TILEWAVE_OPEN_MAP && !failed; i++)
        failed = databases(argv[1], argv[2], argv[4], (unsigned)i);
    for (i = TILEWAVE_OPEN_READ; i <= TILEWAVE_OPEN_LAZY && !failed; i++)
        failed = tables(argv[2], argv[1], argv[5], (unsigned)i);
    for (i = 7; i < argc && !failed; i++)
        failed = every_move(argv[i]);
    return failed;
}
