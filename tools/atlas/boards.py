"""Boards: their symmetries, a plain search, and walks along solutions."""


def images(rows, cols, cell):
    """The images (rows, columns, cell) of a cell under the symmetries of a rectangle."""
    row, col = divmod(cell, cols)
    found = set()
    for r in (row, rows - 1 - row):
        for c in (col, cols - 1 - col):
            found |= {(rows, cols, r * cols + c), (cols, rows, c * rows + r)}
    return found


def neighbours(board, rows, cols, metric):
    """The boards one move away: a tile slides, or in the metric mtm all between it and the blank."""
    blank = board.index(0)
    row, col = divmod(blank, cols)
    for by, room in ((cols, rows - 1 - row), (-cols, row), (1, cols - 1 - col), (-1, col)):
        moved, at = list(board), blank
        for _ in range(room if metric == "mtm" else min(room, 1)):
            moved[at], moved[at + by] = moved[at + by], 0
            at += by
            yield tuple(moved)


def levels(start, around, most=None):
    """How many states there are at each distance from one; no further than a level of more than `most`."""
    seen, level, counts = {start}, {start}, []
    while level and (most is None or len(level) <= most):
        counts.append(len(level))
        level = {n for state in level for n in around(state)} - seen
        seen |= level
    return counts


def of_board(rows, cols, cell, metric, most=None):
    """The boards at each distance from one with the blank in a cell; no further than a level of more than `most`."""
    tiles = iter(range(1, rows * cols))
    start = tuple(0 if c == cell else next(tiles) for c in range(rows * cols))
    return levels(start, lambda board: neighbours(board, rows, cols, metric), most)


def of_puzzle(target):
    """The arrangements at each distance of a member of a family, pancake:7."""
    family, _, numbers = target.partition(":")
    numbers = [int(number) for number in numbers.split(",")]
    generators = GENERATORS[family](*numbers)
    return levels(tuple(range(numbers[0])), lambda state: [tuple(state[i] for i in g) for g in generators])


def walk(board, moves, goal, cols, metric, length):
    """What is wrong with a solution: letters say where tiles go."""
    tiles = [int(tile) for tile in board.replace("/", " ").split()]
    blank = tiles.index(0)
    for letter in moves:
        source = blank + {"U": cols, "D": -cols, "L": 1, "R": -1}[letter]
        if not 0 <= source < len(tiles) or letter in "LR" and source // cols != blank // cols:
            yield f"the solution of {board} leaves the board"
            return
        tiles[blank], tiles[source], blank = tiles[source], 0, source
    if tiles != [int(tile) for tile in goal.replace("/", " ").split()]:
        yield f"the solution of {board} does not end at the goal"
    # Several tiles in a line are one move of the metric mtm.
    made = len(moves) if metric == "stm" else sum(a != b for a, b in zip(moves, " " + moves))
    if made != length:
        yield f"the solution of {board} has {made} moves, not {length}"


def reverse(n, i, j):
    return [*range(i), *range(j - 1, i - 1, -1), *range(j, n)]


def swap(n, i, j):
    places = list(range(n))
    places[i], places[j] = j, i
    return places


# The places that elements come from, by the definitions in tests/data/growth.json, not by the program's.
GENERATORS = {
    "pancake": lambda n: [reverse(n, 0, k) for k in range(2, n + 1)],
    "topspin": lambda n, k: [[*range(1, n), 0], [n - 1, *range(n - 1)], reverse(n, 0, k)],
    "lrx": lambda n: [[*range(1, n), 0], [n - 1, *range(n - 1)], swap(n, 0, 1)],
    "lx": lambda n: [[*range(1, n), 0], swap(n, 0, 1)],
    "coxeter": lambda n: [swap(n, i, i + 1) for i in range(n - 1)],
    "cyclic-coxeter": lambda n: [swap(n, i, (i + 1) % n) for i in range(n)],
    "stars": lambda n: [swap(n, 0, i) for i in range(1, n)],
    "reversals": lambda n: [reverse(n, i, j) for i in range(n) for j in range(i + 2, n + 1)],
}


def mahonian(n):
    """Permutations by their inversions (OEIS A008302): the product of 1 + x + .. + x^(k-1) for k to n."""
    counts = [1]
    for k in range(2, n + 1):
        wider = [0] * (len(counts) + k - 1)
        for at, count in enumerate(counts):
            for more in range(k):
                wider[at + more] += count
        counts = wider
    return counts


def whitney(n):
    """Whitney numbers of the star poset, by the recurrence of Ke Qiu in OEIS A007799."""
    rows = [[], [1]]
    for m in range(2, n + 1):
        row = [1, m - 1, (m - 1) * (m - 2)]
        for k in range(3, 3 * (m - 1) // 2 + 1):
            earlier = sum(j * rows[j][k - 3] for j in range(1, m - 1) if k - 3 < len(rows[j]))
            row.append((m - 1) * (rows[m - 1][k - 1] if k - 1 < len(rows[m - 1]) else 0) + earlier)
        while row[-1] == 0:
            row.pop()
        rows.append(row)
    return rows[n]


FORMULAS = {"coxeter": (mahonian, "the product formula of the Mahonian numbers, OEIS A008302"),
            "stars": (whitney, "the recurrence of the Whitney numbers of the star poset, OEIS A007799")}
