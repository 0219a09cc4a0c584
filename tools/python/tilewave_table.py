"""Reader of tilewave distance tables (docs/format.md, version 1). Needs only Python.

    from tilewave_table import Table
    table = Table("3x3.table")
    table.depth([8, 6, 7, 2, 5, 4, 3, 0, 1])   # 31
    table.solve([8, 6, 7, 2, 5, 4, 3, 0, 1])   # letters: the directions of the tiles

As a program, reads boards from standard input, one per line, and writes depths and solutions to standard output.
"""

import mmap
import struct
import sys


class Table:
    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        if self.data[:8] != b"TWTAB\r\n\x1a" or struct.unpack_from("<I", self.data, 8)[0] != 1:
            raise ValueError(f"{path} is not a distance table of version 1")
        self.rows, self.cols, self.encoding = self.data[16:19]
        self.cells = self.rows * self.cols
        (self.stride,) = struct.unpack_from("<Q", self.data, 24)
        (self.entries,) = struct.unpack_from("<Q", self.data, 64)
        self.goal = list(struct.unpack_from(f"<{self.cells}H", self.data, 104))
        self.path = self.snake()
        along = (self.goal[cell] for cell in self.path)
        self.number = {t: i for i, t in enumerate(t for t in along if t != 0)}

    def snake(self):
        """The row-major cells in path order: lines along the short side, every other one reversed."""
        rows, cols = self.rows, self.cols
        if cols > rows:
            lines = [[r * cols + c for r in range(rows)] for c in range(cols)]
        else:
            lines = [[r * cols + c for c in range(cols)] for r in range(rows)]
        return [cell for i, line in enumerate(lines) for cell in (line[::-1] if i % 2 else line)]

    def entry(self, board):
        """The entry of a board that can reach the goal. Raises ValueError if it is not a board of the table's size."""
        if sorted(board) != list(range(self.cells)):
            raise ValueError(f"not a {self.rows}x{self.cols} board with every tile once and 0 for the blank: {board}")
        line = [self.number[board[cell]] for cell in self.path if board[cell] != 0]
        cell = self.path.index(board.index(0))
        digits = [sum(b < a for b in line[i + 1 :]) for i, a in enumerate(line)]
        if sum(digits) % 2:
            return None
        rank = 0
        for i, digit in enumerate(digits):
            rank = rank * (len(line) - i) + digit
        at = self.entries + rank // 2 * self.stride
        bits = {0: 2, 1: 8, 2: 4}[self.encoding]
        none, each = (1 << bits) - 1, 8 // bits
        value = self.data[at + cell // each] >> bits * (cell % each) & none
        return None if value == none else value

    def moves(self, board):
        """The possible moves of a board, and the boards after them."""
        blank = board.index(0)
        row, col = divmod(blank, self.cols)
        for letter, r, c in (("U", row + 1, col), ("D", row - 1, col), ("L", row, col + 1), ("R", row, col - 1)):
            if 0 <= r < self.rows and 0 <= c < self.cols:
                moved = list(board)
                moved[blank], moved[r * self.cols + c] = moved[r * self.cols + c], 0
                yield letter, moved

    def solve(self, board):
        """A shortest solution, or None for a board that cannot reach the goal."""
        value = self.entry(board)
        if value is None:
            return None
        letters = ""
        while board != self.goal:
            value = (value + 2) % 3 if self.encoding == 0 else value - 1
            letter, board = next((m for m in self.moves(board) if self.entry(m[1]) == value))
            letters += letter
        return letters

    def depth(self, board):
        """The least number of moves to the goal, or None for a board that cannot reach it."""
        if self.encoding != 0:
            return self.entry(board)
        letters = self.solve(board)
        return None if letters is None else len(letters)


if __name__ == "__main__":
    table = Table(sys.argv[1])
    for text in sys.stdin:
        board = [int(t) for t in text.replace("/", " ").split()]
        print(table.depth(board), table.solve(board))
