/* Prints the depth and a shortest solution of boards from a distance table. To build and run it: README.md.
 *
 * Input: one board per line, tiles in row-major order separated by spaces or '/', blank 0. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "tilewave.h"

int main(int argc, char **argv) {
    char line[1024];
    TilewaveTable *table;

    if (argc != 2) {
        fprintf(stderr, "usage: %s FILE < boards\n", argv[0]);
        return 2;
    }
    if (tilewave_table_open(argv[1], TILEWAVE_OPEN_LAZY, &table) != TILEWAVE_STATUS_OK) {
        fprintf(stderr, "error: %s\n", tilewave_last_message());
        return 1;
    }
    while (fgets(line, sizeof line, stdin) != NULL) {
        uint16_t board[36];
        size_t count = 0;
        char *at = line, moves[256] = "";
        int depth, length;
        while (*at != '\0' && count < 36) {
            if (isdigit((unsigned char)*at))
                board[count++] = (uint16_t)strtoul(at, &at, 10);
            else
                at++;
        }
        depth = tilewave_table_depth(table, board, count);
        length = tilewave_table_solve(table, board, count, moves, sizeof moves);
        printf("%d %d %s\n", depth, length, moves);
    }
    tilewave_table_close(table);
    return 0;
}
