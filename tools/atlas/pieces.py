"""Complete searches of puzzles whose pieces turn or look alike: which they are, their files for the program, and plain
searches of them that share nothing with it. Their files lie in docs/results/pieces."""
import json
import math

import boards
import depths


def turned(n, i, j):
    return [0] * i + [1] * (j - i) + [0] * (n - j)


def text(name, sets, moves):
    """A puzzle for the program (.tws): for each set its orientations and its solved pieces, for each move and set the places
    that pieces come from and by how much each is turned."""
    lines = [f"Name {name}"]
    for key, (orientations, solved) in sets.items():
        lines.append(f"Set {key} {len(solved)} {orientations}")
    lines.append("Solved")
    for key, (_, solved) in sets.items():
        lines += [key, " ".join(map(str, solved))]
    lines.append("End")
    for move, parts in moves.items():
        lines.append(f"Move {move}")
        for key, (places, turns) in parts.items():
            lines += [key, " ".join(str(place + 1) for place in places)]
            if turns:
                lines.append(" ".join(map(str, turns)))
        lines.append("End")
    return "\n".join(lines) + "\n"


class Family:
    """Puzzles of one kind: their text for the program, and for a plain search the start and what is one move away."""

    def __init__(self, about, states, text, start, around):
        self.about, self.states, self.text, self.start, self.around = about, states, text, start, around


def flips(intervals):
    """Pancakes with a burnt side, or signed numbers: intervals that are reversed and turned."""
    def moves(name, n):
        return text(name, {"ELEMENTS": (2, range(1, n + 1))},
                    {f"R{i + 1}-{j}": {"ELEMENTS": (boards.reverse(n, i, j), turned(n, i, j))} for i, j in intervals(n)})

    def around(state):
        for i, j in intervals(len(state)):
            yield state[:i] + tuple(-x for x in reversed(state[i:j])) + state[j:]
    return {"states": lambda n: math.factorial(n) << n, "text": moves, "start": lambda n: tuple(range(1, n + 1)), "around": around}


def ring(gate, start):
    """A ring of beads of two colours that turns by one place, and whose first beads are reversed."""
    def moves(name, *numbers):
        beads = start(*numbers)
        n = len(beads)
        return text(name, {"BEADS": (1, [bead + 1 for bead in beads])},
                    {"L": {"BEADS": ([*range(1, n), 0], None)}, "X": {"BEADS": (boards.reverse(n, 0, gate), None)}})

    def around(state):
        return state[1:] + state[:1], state[-1:] + state[:-1], state[gate - 1 :: -1] + state[gate:]
    return {"states": lambda *numbers: math.comb(sum(1 for _ in start(*numbers)), sum(start(*numbers))), "text": moves, "start": start,
            "around": around}


def blocks(zeros, ones):
    return (0,) * zeros + (1,) * ones


def alternating(n):
    return tuple(place % 2 for place in range(n))


def torus(name, rows, cols):
    """A board whose opposite edges meet, seen from the blank: a move shifts all tiles, and takes one past the blank. The cell of
    the blank is kept by two rings that turn, of as many places as there are columns and rows."""
    cells = [(r, c) for r in range(rows) for c in range(cols)][1:]
    moves = {}
    for move, key, (down, right) in (("R", "COLUMN", (0, 1)), ("D", "ROW", (1, 0))):
        places = []
        for r, c in cells:
            # What is here after the blank's move was a step away; in place of the blank, what the blank changes places with.
            r, c = (r + down) % rows, (c + right) % cols
            places.append(cells.index((r, c) if (r, c) != (0, 0) else (down % rows, right % cols)))
        size = cols if right else rows
        moves[move] = {"TILES": (places, None), key: ([*range(1, size), 0], None)}
    return text(name, {"TILES": (1, range(1, rows * cols)), "COLUMN": (1, [1] + [2] * (cols - 1)), "ROW": (1, [1] + [2] * (rows - 1))}, moves)


def around_torus(rows, cols):
    def around(state):
        blank = state.index(0)
        row, col = divmod(blank, cols)
        for r, c in ((row + 1, col), (row - 1, col), (row, col + 1), (row, col - 1)):
            to, after = r % rows * cols + c % cols, list(state)
            after[blank], after[to] = after[to], 0
            yield tuple(after)
    return around


def of_torus(rows, cols):
    return math.factorial(rows * cols) // (1 + (rows % 2 == 0 and cols % 2 == 0))


FAMILIES = {
    "burnt-pancake": Family("a stack of N pancakes, each with a burnt side: the first 1, 2, .. or N are turned over",
                            **flips(lambda n: [(0, k) for k in range(1, n + 1)])),
    "signed-reversals": Family("N numbers with signs: any interval is reversed, and its signs are changed",
                               **flips(lambda n: [(i, j) for i in range(n) for j in range(i + 1, n + 1)])),
    "lrx-blocks": Family("a ring of A white beads, then B black ones: it turns by one place, or the first two change places",
                         **ring(2, blocks)),
    "lrx-alternating": Family("a ring of N beads, white and black in turn: it turns by one place, or the first two change places",
                              **ring(2, alternating)),
    "topspin-blocks": Family("a ring of A white beads, then B black ones: it turns by one place, or the first four are reversed",
                             **ring(4, blocks)),
    "topspin-alternating": Family("a ring of N beads, white and black in turn: it turns by one place, or the first four are reversed",
                                  **ring(4, alternating)),
}
MEMBERS = {
    "burnt-pancake": [(n,) for n in range(4, 11)],
    "signed-reversals": [(n,) for n in range(4, 10)],
    "lrx-blocks": [(10, 10), (13, 12), (14, 14), (15, 14), (15, 15), (16, 15), (15, 16)],
    "lrx-alternating": [(20,), (25,), (28,), (29,), (30,), (31,), (32,)],
    "topspin-blocks": [(10, 10), (13, 12), (14, 14), (15, 15), (16, 15)],
    "topspin-alternating": [(20,), (26,), (30,), (31,)],
}
ROWS = [(3, 3), (2, 5), (3, 4), (2, 7), (3, 5), (4, 4), (2, 8), (3, 6), (3, 7)]
TORI = [(2, 3), (2, 4), (3, 3), (2, 5), (2, 6), (3, 4)]


class Search(depths.Search):
    """One complete search."""

    folder, complete = "pieces", True

    def __init__(self, name, about, target, options, states, plain, text=None, image=None):
        super().__init__(name, target, options, "-", None)
        self.about, self.number, self.plain, self.text, self.options_image = about, states, plain, text, image

    def arguments(self, depth=None, cell=None, memory="3GB"):
        return ["bfs", self.target, *self.options, "--engine", "frontier", "-M", memory]

    def confirmations(self):
        return ["kernel", "plain"] + ["orientation"] * (self.options_image is not None)

    def less_memory(self):
        # What lists do not hold takes three bits a state.
        return "1500MB" if self.number < 2e9 else "2500MB"

    def turned_words(self):
        return "the board turned round: goal first"

    def turned_arguments(self):
        return ["bfs", self.target, *self.options_image, "--engine", "frontier", "-M", "3GB"]

    def levels(self, most):
        return self.plain(most)


def of_family(name, numbers):
    family, size = FAMILIES[name], "-".join(map(str, numbers))
    own = f"{name}-{size}"
    plain = lambda most: boards.levels(family.start(*numbers), family.around, most)  # noqa: E731
    return Search(own, family.about, f"docs/results/pieces/{own}.tws", ["--metric", "qtm"], family.states(*numbers), plain,
                  family.text(own, *numbers))


def of_rows(rows, cols, metric):
    """A board whose rows have one colour each: with the blank in the last cell, and, turned round, in the first."""
    def colours(first):
        ends = [first - 1 + cols * row for row in range(rows + 1)]
        return ",".join(f"{max(a, 0) + 1}-{min(b, rows * cols - 1)}" for a, b in zip(ends, ends[1:]))
    options = ["--metric", "mtm"] if metric == "mtm" else []
    start = tuple(0 if cell == rows * cols - 1 else cell // cols + 1 for cell in range(rows * cols))
    plain = lambda most: boards.levels(start, lambda board: boards.neighbours(board, rows, cols, metric), most)  # noqa: E731
    states = math.factorial(rows * cols) // (math.factorial(cols) ** (rows - 1) * math.factorial(cols - 1))
    name = f"rows-{rows}x{cols}" + ("-mtm" if metric == "mtm" else "")
    about = "the board whose tiles have the colours of their rows" + (", several tiles a move" if metric == "mtm" else "")
    return Search(name, about, f"{rows}x{cols}", ["--same", colours(1), *options], states, plain,
                  image=["--goal", "first", "--same", colours(0), *options])


def catalogue():
    found = [of_family(name, numbers) for name, members in MEMBERS.items() for numbers in members]
    for rows, cols in ROWS:
        found += [of_rows(rows, cols, metric) for metric in ("stm", "mtm")[: 1 + (rows * cols <= 16)]]
    for rows, cols in TORI:
        name = f"torus-{rows}x{cols}"
        start = (*range(1, rows * cols), 0)
        plain = lambda most, start=start, around=around_torus(rows, cols): boards.levels(start, around, most)  # noqa: E731
        found.append(Search(name, "the board whose opposite edges meet", f"docs/results/pieces/{name}.tws", ["--metric", "qtm"],
                            of_torus(rows, cols), plain, torus(name, rows, cols)))
    return found


def published(root):
    """What is published, by the names of the searches: counts, and where."""
    known = json.loads((root / "tests/data/pieces.json").read_text())
    return {name: {"counts": counts, "source": known["_source"]} for name, counts in known.items() if not name.startswith("_")}


def table(found, truths):
    """The index of these searches."""
    lines = ["| search | states | God's number | antipodes | mean depth | symmetries | confirmed by | published |",
             "|---|---:|---:|---:|---:|---:|---|---|"]
    for search, result in found:
        by = ", ".join(c["by"] + ("" if c["to_depth"] == result["diameter"] else f" to {c['to_depth']}") for c in result["confirmed"])
        truth = truths.get(search.name)
        lines.append(f"| [{search.name}](pieces/{search.name}.json) | {result['total']:,} | {result['diameter']} | {result['antipodes']:,} | "
                     f"{result['mean_depth']:.4f} | {result['symmetries']} | {by} | {truth['source'] if truth else '**not found**'} |")
    return "\n".join(lines) + "\n"
