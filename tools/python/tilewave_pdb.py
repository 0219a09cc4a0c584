"""Reader of tilewave pattern databases (docs/format.md, version 1). Needs numpy.

    from tilewave_pdb import Pdb
    pdb = Pdb("7.pdb")
    pdb.value([15, 2, 1, 12, 8, 5, 6, 11, 4, 9, 10, 7, 3, 14, 13, 0])

As a program, reads boards from standard input, one per line, and writes their values to standard output.
"""

import math
import struct
import sys

import numpy

UNREACHED = 255


class Pdb:
    def __init__(self, path):
        with open(path, "rb") as file:
            head = file.read(4096)
        if head[:8] != b"TWPDB\r\n\x1a" or struct.unpack_from("<I", head, 8)[0] != 1:
            raise ValueError(f"{path} is not a pattern database of version 1")
        self.rows, self.cols, k, self.kind, self.encoding, compressed = head[16:22]
        if compressed:
            raise ValueError(f"{path} is compressed: build it again with tilewave pdb build")
        self.cells = self.rows * self.cols
        (self.entries,) = struct.unpack_from("<Q", head, 32)
        starts, starts_bytes, *_, data, data_bytes = struct.unpack_from("<8Q", head, 56)
        self.goal = list(struct.unpack_from(f"<{self.cells}H", head, 152))
        self.tiles = list(struct.unpack_from(f"<{k}H", head, 224))
        self.home = [self.goal.index(t) for t in self.tiles]
        self.data = numpy.memmap(path, numpy.uint8, "r", data, (data_bytes,))
        self.starts = None
        if self.kind == 1:
            self.starts = numpy.memmap(path, "<u4", "r", starts, (starts_bytes // 4,))

    def entry(self, cells, blank):
        """The entry of a placement: the cells of the tiles in increasing order of their numbers."""
        if self.kind != 1:  # lexicographic rank of the cells
            rank = 0
            for i, cell in enumerate(cells):
                rank = rank * (self.cells - i) + cell - sum(c < cell for c in cells[:i])
            return rank
        ordered = sorted(cells)
        rank = sum(math.comb(cell, i + 1) for i, cell in enumerate(ordered))
        slot = int(self.starts[rank]) + self.regions(set(cells)).index(self.region(set(cells), blank))
        order = 0
        for i, cell in enumerate(cells):
            order = order * (len(cells) - i) + sum(c < cell for c in cells[i + 1 :])
        return slot * math.factorial(len(cells)) + order

    def region(self, occupied, start):
        """The lowest cell of the connected free cells around a cell."""
        found, todo = {start}, [start]
        while todo:
            row, col = divmod(todo.pop(), self.cols)
            for r, c in ((row - 1, col), (row + 1, col), (row, col - 1), (row, col + 1)):
                cell = r * self.cols + c
                if 0 <= r < self.rows and 0 <= c < self.cols and cell not in occupied | found:
                    found.add(cell)
                    todo.append(cell)
        return min(found)

    def regions(self, occupied):
        return sorted({self.region(occupied, c) for c in range(self.cells) if c not in occupied})

    def value(self, board):
        """The value of a board (row-major tiles, 0 for the blank), or None if the board cannot be solved.
        Raises ValueError if it is not a board of the database's size."""
        board = list(board)
        if sorted(board) != list(range(self.cells)):
            raise ValueError(f"not a {self.rows}x{self.cols} board with every tile once and 0 for the blank: {board}")
        cells = [board.index(t) for t in self.tiles]
        entry = self.entry(cells, board.index(0))
        if self.encoding == 0:
            value = int(self.data[entry])
            return None if value == UNREACHED else value
        return self.walk(cells, board.index(0))

    def walk(self, cells, blank):
        """The number of moves of a walk to the goal, for a table with one bit per entry."""
        goal, value = self.region(set(self.home), self.goal.index(0)), 0
        rest = self.remainder(cells, blank)
        while (cells, self.region(set(cells), blank)) != (self.home, goal):
            steps = (step for step in self.moves(cells, blank) if self.remainder(*step) == (rest - 1) % 4)
            step = next(steps, None)
            if step is None:
                return None
            (cells, blank), value, rest = step, value + 1, (rest - 1) % 4
        return value

    def remainder(self, cells, blank):
        """The value modulo 4: one bit is stored, the other is the parity of the cells."""
        entry = self.entry(cells, blank)
        colour = sum(sum(divmod(c, self.cols)) for c in cells + self.home) % 2
        return 2 * (int(self.data[entry // 8]) >> entry % 8 & 1) + colour

    def moves(self, cells, blank):
        """The moves of the pattern's tiles into the blank's region: cells and blank after each."""
        taken = set(cells)
        region = self.region(taken, blank)
        for i, cell in enumerate(cells):
            row, col = divmod(cell, self.cols)
            for r, c in ((row - 1, col), (row + 1, col), (row, col - 1), (row, col + 1)):
                to = r * self.cols + c
                if 0 <= r < self.rows and 0 <= c < self.cols and to not in taken and self.region(taken, to) == region:
                    yield cells[:i] + [to] + cells[i + 1 :], cell


if __name__ == "__main__":
    pdb = Pdb(sys.argv[1])
    for line in sys.stdin:
        print(pdb.value([int(t) for t in line.replace("/", " ").split()]))
