/* Prints the depths of states of a cube or other puzzle in a pruning table. To build and run it: README.md.
 *
 * Input: one state per line, as moves from the solved state or as `tilewave scramble` prints it. */
#include <stdio.h>
#include <string.h>

#include "tilewave.h"

int main(int argc, char **argv) {
    char line[4096];
    TilewavePruning *table;

    if (argc != 2) {
        fprintf(stderr, "usage: %s FILE < states\n", argv[0]);
        return 2;
    }
    if (tilewave_pruning_open(argv[1], &table) != TILEWAVE_STATUS_OK) {
        fprintf(stderr, "error: %s\n", tilewave_last_message());
        return 1;
    }
    while (fgets(line, sizeof line, stdin) != NULL) {
        int depth;
        line[strcspn(line, "\n")] = '\0';
        depth = tilewave_pruning_depth(table, line);
        if (depth == TILEWAVE_ANSWER_INVALID)
            printf("invalid: %s\n", tilewave_last_message());
        else
            printf("%d\n", depth);
    }
    tilewave_pruning_close(table);
    return 0;
}
