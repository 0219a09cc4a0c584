"""The sliding-tile puzzle on every connected graph of 2 to 8 vertices: docs/results/graphs.csv has a graph a line, in the order
in which found() finds them. Its columns are the graph (in graph6), vertices, edges, states that can be reached from one, and
for each vertex that is free in the goal God's number and the number of antipodes."""
import json
import math
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor

import boards

HEAD = "graph6,vertices,edges,states,gods_numbers,antipodes\n"
# OEIS A001349.
CONNECTED = {2: 1, 3: 2, 4: 6, 5: 21, 6: 112, 7: 853, 8: 11117}
# Puzzles on graphs of so many vertices are searched again by check.
PLAIN = 5


def bits(mask):
    return [i for i in range(mask.bit_length()) if mask >> i & 1]


def refined(rows, cells):
    """Ordered sets of vertices, divided until those of one set have equally many neighbours in every other set."""
    done = False
    while not done:
        done = True
        for by in cells:
            divided = []
            for cell in cells:
                parts = {}
                for v in bits(cell):
                    near = (rows[v] & by).bit_count()
                    parts[near] = parts.get(near, 0) | 1 << v
                divided += [parts[near] for near in sorted(parts)]
            if len(divided) > len(cells):
                cells, done = divided, False
                break
    return cells


def canonical(rows, cells):
    """The rows of a graph renumbered, equal for graphs that a renumbering within ordered sets of vertices makes equal: the
    least of those that follow from a refinement, and from singling out each vertex where that leaves a choice."""
    cells = refined(rows, cells)
    at = next((i for i, cell in enumerate(cells) if cell.bit_count() > 1), None)
    if at is None:
        number = {cell.bit_length() - 1: i for i, cell in enumerate(cells)}
        return tuple(sum(1 << number[u] for u in bits(rows[cell.bit_length() - 1])) for cell in cells)
    found, tried = [], []
    for v in bits(cells[at]):
        # Of two vertices with the same neighbours one is enough.
        if all(rows[u] & ~(1 << v) != rows[v] & ~(1 << u) for u in tried):
            found.append(canonical(rows, [*cells[:at], 1 << v, cells[at] & ~(1 << v), *cells[at + 1:]]))
        tried.append(v)
    return min(found)


def found(n):
    """All connected graphs of n vertices, each once: a vertex more with any neighbours, since every connected graph has a
    vertex without which it is connected."""
    if n == 1:
        return [(0,)]
    graphs = set()
    for rows in found(n - 1):
        for near in range(1, 1 << n - 1):
            longer = [row | (near >> v & 1) << n - 1 for v, row in enumerate(rows)]
            graphs.add(canonical((*longer, near), [(1 << n) - 1]))
    return sorted(graphs, key=lambda rows: (sum(map(int.bit_count, rows)), rows))


def classes(rows):
    """For each vertex the first that a symmetry of the graph takes to it."""
    every = (1 << len(rows)) - 1
    forms = [canonical(rows, [1 << v, every & ~(1 << v)]) for v in range(len(rows))]
    return [forms.index(form) for form in forms]


def edges(rows):
    return [(a, b) for b in range(len(rows)) for a in range(b) if rows[a] >> b & 1]


def graph6(rows):
    """The graph in graph6: its upper triangle by columns, six bits a letter."""
    triangle = [rows[a] >> b & 1 for b in range(len(rows)) for a in range(b)]
    triangle += [0] * (-len(triangle) % 6)
    letters = (sum(bit << 5 - i for i, bit in enumerate(triangle[at:at + 6])) for at in range(0, len(triangle), 6))
    return "".join(chr(63 + value) for value in (len(rows), *letters))


def of_edges(n, pairs):
    """The rows of a graph of n vertices."""
    rows = [0] * n
    for a, b in pairs:
        rows[a] |= 1 << b
        rows[b] |= 1 << a
    return tuple(rows)


def of_graph6(text):
    """The rows of a graph in graph6."""
    n = ord(text[0]) - 63
    triangle = "".join(f"{ord(letter) - 63:06b}" for letter in text[1:])
    pairs = [(a, b) for b in range(n) for a in range(b)]
    return of_edges(n, [pair for pair, bit in zip(pairs, triangle) if bit == "1"])


def word(rows, free):
    """The puzzle's word with this vertex free in the goal: it changes places with vertex 0."""
    number = {0: free, free: 0}
    return "graph:" + ",".join(f"{number.get(a, a)}-{number.get(b, b)}" for a, b in edges(rows))


def line(rows, states, farthest):
    """A line of the file; of each vertex God's number and antipodes."""
    numbers, antipodes = (" ".join(str(one[i]) for one in farthest) for i in (0, 1))
    return f"{graph6(rows)},{len(rows)},{len(edges(rows))},{states},{numbers},{antipodes}\n"


def searched(rows, run):
    """A graph's line, by the program: one search for each class of vertices."""
    answers = {}
    for free in sorted(set(classes(rows))):
        words = ("bfs", word(rows, free), "--no-symmetry", "--threads", "1", "--format", "json")
        answers[free] = json.loads(run(*words))
    states, = {answer["total"] for answer in answers.values()}
    return line(rows, states, [(answers[c]["diameter"], answers[c]["antipodes"]) for c in classes(rows)])


def compute(path, most, threads, run, write):
    """Searches the graphs of up to `most` vertices that are missing; the file grows in the order of the graphs."""
    lines = path.read_text().splitlines(keepends=True) if path.exists() else [HEAD]
    graphs = [rows for n in range(2, most + 1) for rows in found(n)]
    if lines[0] != HEAD or any(row.split(",")[0] != graph6(rows) for row, rows in zip(lines[1:], graphs)):
        raise ValueError("its graphs are others, or in another order: remove it and search them again")
    with ThreadPoolExecutor(threads) as pool:
        missing = graphs[len(lines) - 1:]
        for at in range(0, len(missing), 100):
            lines += pool.map(lambda rows: searched(rows, run), missing[at:at + 100])
            write(path, "".join(lines))
            print(f"{len(lines) - 1:,} of {len(graphs):,} graphs", flush=True)


def read(path):
    """The file's lines by the number of vertices: line, graph, states, God's numbers, antipodes."""
    found = defaultdict(list)
    for row in path.read_text().splitlines(keepends=True)[1:] if path.exists() else []:
        graph, _, _, states, numbers, antipodes = row.split(",")
        found[ord(graph[0]) - 63].append((row, graph, int(states), [*map(int, numbers.split())], [*map(int, antipodes.split())]))
    return found


def plain(rows, free):
    """States, God's number and antipodes by a plain search."""
    def around(tiles):
        at = tiles.index(0)
        for to in bits(rows[at]):
            new = list(tiles)
            new[at], new[to] = new[to], 0
            yield tuple(new)
    counts = boards.levels(tuple({0: free, free: 0}.get(v, v) for v in range(len(rows))), around)
    return sum(counts), len(counts) - 1, counts[-1]


def connected(rows, without=0):
    """Whether it is connected without a set of vertices."""
    left = (1 << len(rows)) - 1 & ~without
    seen = new = left & -left
    while new:
        near = 0
        for v in bits(new):
            near |= rows[v]
        new = near & left & ~seen
        seen |= new
    return seen == left


def wilson(rows):
    """The number of states by Wilson's theorem, of a graph that no vertex separates and that is no polygon; or None."""
    n = len(rows)
    if any(not connected(rows, 1 << v) for v in range(n)) or all(row.bit_count() == 2 for row in rows) or n < 3:
        return None
    if n == 7 and canonical(rows, [127]) == THETA:
        return 840
    colour = {0: 0}
    for _ in rows:
        colour |= {u: 1 - colour[v] for v in list(colour) for u in bits(rows[v])}
    even = all(colour[a] != colour[b] for a, b in edges(rows))
    return math.factorial(n) // (1 + even)


# A hexagon and a vertex between two that are opposite.
THETA = canonical(of_edges(7, [*((i, (i + 1) % 6) for i in range(6)), (0, 6), (3, 6)]), [127])


def faults(path):
    """What is wrong with the file, one line each."""
    for n, lines in read(path).items():
        graphs = [of_graph6(graph) for _, graph, *_ in lines]
        if len(graphs) != CONNECTED[n] or len(set(graphs)) != len(graphs) or not all(map(connected, graphs)):
            yield f"it has not each of the {CONNECTED[n]:,} connected graphs of {n} vertices once"
        for rows, (own, graph, states, numbers, antipodes) in zip(graphs, lines):
            farthest = [*zip(numbers, antipodes)]
            if line(rows, states, farthest) != own or len(farthest) != n:
                yield f"{graph} is no graph, or has other vertices or edges"
            elif wilson(rows) not in (None, states):
                yield f"{graph} has {wilson(rows):,} states by Wilson's theorem, not {states:,}"
            elif n <= PLAIN and [plain(rows, v) for v in range(n)] != [(states, *one) for one in farthest]:
                yield f"{graph}: a plain search finds other numbers"


def bfile(found):
    """The greatest God's number of a connected graph of n vertices, from any vertex, as OEIS takes it."""
    greatest = (f"{n} {max(max(numbers) for _, _, _, numbers, _ in lines)}\n" for n, lines in found.items())
    return "# Greatest distance in the sliding-tile puzzle on a connected graph of n vertices\n" + "".join(greatest)


def table(found):
    """The greatest and least God's numbers by the number of vertices."""
    text = ["| vertices | graphs | God's numbers | hardest graph | easiest graph | states of all graphs |", "|---:|---:|---|---|---|---:|"]
    for n, lines in found.items():
        of = [(max(numbers), graph) for _, graph, _, numbers, _ in lines]
        ends = []
        for best in (max(of)[0], min(of)[0]):
            graphs = [f"`{graph}`" for number, graph in of if number == best]
            ends.append(", ".join(graphs[:3]) + (f" and {len(graphs) - 3} more" if len(graphs) > 3 else ""))
        every = sum(states for _, _, states, *_ in lines)
        text.append(f"| {n} | {len(of):,} | {min(of)[0]} to {max(of)[0]} | {ends[0]} | {ends[1]} | {every:,} |")
    return "\n".join(text) + "\n"
