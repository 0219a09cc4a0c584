/* Prints the values of boards in a pattern database, looked up all together. To build and run it: README.md.
 *
 * Input: one board per line, tiles in row-major order separated by spaces or '/', blank 0. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "tilewave.h"

int main(int argc, char **argv) {
    char line[1024];
    TilewavePdb *pdb;
    TilewaveStatus status;
    uint16_t tiles[8], *boards = NULL;
    int16_t *values;
    size_t i, k, cells, count = 0, room = 0;

    if (argc != 2) {
        fprintf(stderr, "usage: %s FILE.pdb < boards\n", argv[0]);
        return 2;
    }
    status = tilewave_pdb_open(argv[1], TILEWAVE_OPEN_MAP, &pdb);
    if (status != TILEWAVE_STATUS_OK) {
        fprintf(stderr, "error: %s: %s\n", tilewave_status_text(status), tilewave_last_message());
        return 1;
    }
    cells = tilewave_pdb_rows(pdb) * tilewave_pdb_columns(pdb);
    k = tilewave_pdb_tiles(pdb, tiles, 8);
    fprintf(stderr, "%llu entries, tiles", (unsigned long long)tilewave_pdb_entries(pdb));
    for (i = 0; i < k; i++)
        fprintf(stderr, " %u", tiles[i]);
    fprintf(stderr, "\n");

    while (fgets(line, sizeof line, stdin) != NULL) {
        char *at = line;
        if (count == room) {
            room = room == 0 ? 1024 : 2 * room;
            boards = (uint16_t *)realloc(boards, room * cells * sizeof *boards);
            if (boards == NULL)
                return 1;
        }
        /* A tile that is missing is the blank: a board with two is invalid. */
        for (i = 0; i < cells; i++) {
            while (*at != '\0' && !isdigit((unsigned char)*at))
                at++;
            boards[count * cells + i] = (uint16_t)strtoul(at, &at, 10);
        }
        count++;
    }
    values = (int16_t *)malloc((count + 1) * sizeof *values);
    if (values == NULL || tilewave_pdb_values(pdb, boards, count, values) != TILEWAVE_STATUS_OK) {
        fprintf(stderr, "error: %s\n", tilewave_last_message());
        return 1;
    }
    for (i = 0; i < count; i++)
        printf("%d\n", values[i]);
    free(boards);
    free(values);
    tilewave_pdb_close(pdb);
    return 0;
}
