/* Prints the values of boards in a pattern database. To build and run it: README.md.
 *
 * Input: one board per line, tiles in row-major order separated by spaces or '/', blank 0. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "tilewave.h"

int main(int argc, char **argv) {
    char message[256], line[1024];
    TilewavePdb *pdb;
    uint16_t tiles[8];
    size_t i, k;

    if (argc != 2) {
        fprintf(stderr, "usage: %s FILE.pdb < boards\n", argv[0]);
        return 2;
    }
    pdb = tilewave_pdb_open(argv[1], message, sizeof message);
    if (pdb == NULL) {
        fprintf(stderr, "error: %s\n", message);
        return 1;
    }
    k = tilewave_pdb_tiles(pdb, tiles, 8);
    fprintf(stderr, "%llu entries, tiles", (unsigned long long)tilewave_pdb_entries(pdb));
    for (i = 0; i < k; i++)
        fprintf(stderr, " %u", tiles[i]);
    fprintf(stderr, "\n");

    while (fgets(line, sizeof line, stdin) != NULL) {
        uint16_t board[36];
        size_t count = 0;
        char *at = line;
        while (*at != '\0' && count < 36) {
            if (isdigit((unsigned char)*at))
                board[count++] = (uint16_t)strtoul(at, &at, 10);
            else
                at++;
        }
        printf("%d\n", tilewave_pdb_value(pdb, board, count));
    }
    tilewave_pdb_close(pdb);
    return 0;
}
