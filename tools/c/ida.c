/* Finds shortest solutions of boards with a set of pattern databases: iterative-deepening A* (IDA*). To build and run
 * it: README.md.
 *
 * Arguments: databases without common tiles, all for the same goal. Input: one board per line, tiles in row-major order
 * separated by spaces or '/', blank 0. Output: number of moves, where the tiles go, nodes. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tilewave.h"

enum { MOST_CELLS = 36, MOST_DATABASES = 8, MOST_TILES = 8, MOST_MOVES = 256 };

typedef struct {
    TilewavePdb *pdb;
    size_t tiles;
    /* The cells of the pattern's tiles, and the value of this placement. */
    uint8_t cells[MOST_TILES];
    int value;
} Database;

typedef struct {
    int rows, columns;
    size_t databases;
    Database database[MOST_DATABASES];
    /* For each tile its database, or -1, and its place among the pattern's tiles. */
    int owner[MOST_CELLS], place[MOST_CELLS];
    uint16_t goal[MOST_CELLS], board[MOST_CELLS];
    char moves[MOST_MOVES + 1];
    unsigned long long nodes;
} Search;

/* A tile that goes up comes from below the blank. */
static const char LETTERS[] = "UDLR";
static const int DOWN[4] = {1, -1, 0, 0}, RIGHT[4] = {0, 0, 1, -1};

static int estimate(const Search *search) {
    int sum = 0;
    size_t i;
    for (i = 0; i < search->databases; i++)
        sum += search->database[i].value;
    return sum;
}

/* Moves a tile to a cell and looks its database up, the blank being on the cell that the tile has left. Returns the
 * value before. */
static int place_tile(Search *search, uint16_t tile, int cell, int blank) {
    Database *database;
    int before;
    if (search->owner[tile] < 0)
        return 0;
    database = &search->database[search->owner[tile]];
    before = database->value;
    database->cells[search->place[tile]] = (uint8_t)cell;
    database->value = tilewave_pdb_lookup(database->pdb, database->cells, database->tiles, (uint8_t)blank);
    return before;
}

/* Looks for a solution of at most `limit` moves below the board. Returns 0 when it is found, else the least limit that
 * leads further. */
static int descend(Search *search, int blank, int depth, int limit, int back) {
    int least = depth + estimate(search), next = MOST_MOVES + 1, move;
    size_t cells = (size_t)(search->rows * search->columns);

    if (least > limit)
        return least;
    if (memcmp(search->board, search->goal, cells * sizeof *search->board) == 0) {
        search->moves[depth] = '\0';
        return 0;
    }
    if (depth == MOST_MOVES)
        return next;
    for (move = 0; move < 4; move++) {
        int row = blank / search->columns + DOWN[move], column = blank % search->columns + RIGHT[move];
        int cell = row * search->columns + column, before, found;
        uint16_t tile;
        if (move == back || row < 0 || row >= search->rows || column < 0 || column >= search->columns)
            continue;
        tile = search->board[cell];
        search->board[blank] = tile;
        search->board[cell] = 0;
        before = place_tile(search, tile, blank, cell);
        search->moves[depth] = LETTERS[move];
        search->nodes++;
        found = descend(search, cell, depth + 1, limit, move ^ 1);
        if (found == 0)
            return 0;
        next = found < next ? found : next;
        search->board[cell] = tile;
        search->board[blank] = 0;
        if (search->owner[tile] >= 0) {
            Database *database = &search->database[search->owner[tile]];
            database->cells[search->place[tile]] = (uint8_t)cell;
            database->value = before;
        }
    }
    return next;
}

/* Opens a database; 0 on success. */
static int add(Search *search, const char *path) {
    Database *database = &search->database[search->databases];
    uint16_t tiles[MOST_TILES];
    TilewaveStatus status;
    size_t i;
    if (search->databases == MOST_DATABASES) {
        fprintf(stderr, "error: more than %d databases\n", MOST_DATABASES);
        return 1;
    }
    status = tilewave_pdb_open(path, TILEWAVE_OPEN_MAP, &database->pdb);
    if (status != TILEWAVE_STATUS_OK) {
        fprintf(stderr, "error: %s\n", tilewave_last_message());
        return 1;
    }
    search->rows = (int)tilewave_pdb_rows(database->pdb);
    search->columns = (int)tilewave_pdb_columns(database->pdb);
    tilewave_pdb_goal(database->pdb, search->goal, MOST_CELLS);
    database->tiles = tilewave_pdb_tiles(database->pdb, tiles, MOST_TILES);
    for (i = 0; i < database->tiles; i++) {
        search->owner[tiles[i]] = (int)search->databases;
        search->place[tiles[i]] = (int)i;
    }
    search->databases++;
    return 0;
}

/* Reads a board and looks all databases up; the cell of the blank, or -1 for an invalid board. */
static int begin(Search *search, const char *line) {
    int cells = search->rows * search->columns, cell, blank = -1;
    char *at = (char *)line;
    size_t i;
    for (cell = 0; cell < cells; cell++) {
        while (*at != '\0' && !isdigit((unsigned char)*at))
            at++;
        search->board[cell] = (uint16_t)strtoul(at, &at, 10);
    }
    for (i = 0; i < search->databases; i++) {
        /* This says whether it is a board that can reach the goal, as far as the pattern tells. */
        Database *database = &search->database[i];
        database->value = tilewave_pdb_value(database->pdb, search->board, (size_t)cells);
        if (database->value < 0)
            return -1;
    }
    for (cell = 0; cell < cells; cell++) {
        uint16_t tile = search->board[cell];
        if (tile == 0)
            blank = cell;
        else if (search->owner[tile] >= 0)
            search->database[search->owner[tile]].cells[search->place[tile]] = (uint8_t)cell;
    }
    return blank;
}

int main(int argc, char **argv) {
    static Search search;
    char line[1024];
    int i;

    if (argc < 2) {
        fprintf(stderr, "usage: %s FILE.pdb.. < boards\n", argv[0]);
        return 2;
    }
    for (i = 0; i < MOST_CELLS; i++)
        search.owner[i] = -1;
    for (i = 1; i < argc; i++) {
        if (add(&search, argv[i]) != 0)
            return 1;
    }
    while (fgets(line, sizeof line, stdin) != NULL) {
        int blank = begin(&search, line), limit, found;
        if (blank < 0) {
            printf("invalid\n");
            continue;
        }
        search.nodes = 0;
        for (limit = estimate(&search); limit <= MOST_MOVES; limit = found) {
            found = descend(&search, blank, 0, limit, -1);
            if (found == 0)
                break;
        }
        if (limit <= MOST_MOVES)
            printf("%d %s %llu\n", (int)strlen(search.moves), search.moves, search.nodes);
        else
            printf("no solution\n");
    }
    for (i = 0; i < (int)search.databases; i++)
        tilewave_pdb_close(search.database[i].pdb);
    return 0;
}
