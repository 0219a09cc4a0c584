"""Searches to a depth, of what has too many states to be searched completely: which they are, how they are made, confirmed
and checked. Their files lie in docs/results/depths."""
import json

import boards

# What takes some seconds on two threads: target, metric, depth from a corner, and from the other cells. A larger depth is
# searched anew. What took hours is in a file as well, and is confirmed to these depths: deepen().
BOARDS = [("5x5", "stm", 22, 20), ("5x5", "mtm", 11, 11), ("4x5", "stm", 22, 21), ("4x5", "mtm", 13, 13), ("3x6", "stm", 24, 23),
          ("3x6", "mtm", 14, 14), ("2x9", "stm", 31, 30), ("2x9", "mtm", 16, 16), ("6x6", "stm", 19, 17), ("6x6", "mtm", 10, 10)]
CUBES = [("3x3x3", "htm", 9), ("3x3x3", "qtm", 10)]
# A plain search goes on while its levels have fewer states than this.
PLAIN = 60_000
# States of the last level in a file.
LISTED = 100
ANOTHER = {"avx512": "avx2", "avx2": "scalar"}


class Search:
    """One search to a depth."""

    folder, complete = "depths", False

    def __init__(self, name, target, options, metric, depth, cell=None):
        self.name, self.target, self.options, self.metric, self.depth, self.cell = name, target, options, metric, depth, cell
        self.board = cell is not None

    def path(self, results):
        return results / self.folder / f"{self.name}.json"

    def shape(self):
        rows, cols = map(int, self.target.split("x"))
        return rows, cols, self.cell

    def arguments(self, depth=None, cell=None, memory="3GB"):
        """The command's words; of boards the goal with the blank in this cell."""
        goal = ["--goal", f"blank={self.cell if cell is None else cell}"] if self.board else []
        return ["bfs", self.target, *goal, *self.options, "--engine", "frontier", "--max-depth", str(depth or self.depth),
                "-M", memory]

    def less_memory(self):
        """Memory with which lists are coded, or divided otherwise."""
        return "1500MB"

    def turned_arguments(self):
        """The command's words for the board in another orientation."""
        return self.arguments(cell=self.image())

    def plain(self, most):
        """The levels of a search in Python, no further than a level of more than `most`."""
        return boards.of_board(*self.shape(), self.metric, most)

    def image(self):
        """The goal's cell on the board turned round, or None where no symmetry moves it. Its own image is this one's cell."""
        rows, cols, cell = self.shape()
        images = (c for r, _, c in boards.images(rows, cols, cell) if r == rows and c != cell)
        return max(images, key=lambda c: abs(c - cell), default=None)

    def turned_words(self):
        """How the turned board is said to be searched."""
        return f"the board turned round: goal blank={self.image()}"

    def turned(self):
        """The same search on the board turned round."""
        return Search(self.name, self.target, self.options, self.metric, self.depth, self.image())

    def of(self, result):
        """The search that a file is of: this one, or on the board turned round."""
        image = self.image() if self.board and result else None
        return self.turned() if image is not None and f" blank={image} " in result["command"] else self

    def confirmations(self):
        """Which other computations confirm it."""
        return ["kernel", *(["plain", *(["orientation"] if self.image() is not None else [])] if self.board else ["symmetry"])]

    def steps(self, result):
        """What is missing: the search itself, to its depth, and what confirms it."""
        if result is None or not self.complete and len(result["counts"]) <= self.depth:
            return ["search", *self.confirmations()]
        done = {c["by"] for c in result["confirmed"]}
        return [by for by in self.confirmations() if by not in done]


def catalogue():
    """All searches to a depth: cubes, then boards, by their goal's cell."""
    found = [Search(f"{target}-{metric}", target, ["--metric", metric], metric, depth) for target, metric, depth in CUBES]
    for target, metric, corner, other in BOARDS:
        rows, cols = map(int, target.split("x"))
        options = ["--metric", "mtm"] if metric == "mtm" else []
        for cell in sorted({min(c for r, _, c in boards.images(rows, cols, cell) if r == rows) for cell in range(rows * cols)}):
            name = target + (f"-blank{cell}" if cell else "") + ("-mtm" if metric == "mtm" else "")
            found.append(Search(name, target, options, metric, other if cell else corner, cell))
    return found


def flat(found):
    """A report of the program with the keys of the files, which have no objects in them."""
    levels = {"level_bytes" if key == "bytes" else key: value for key, value in (found.get("lists") or {}).items()}
    disk = found.get("disk") or {}
    return {"published": found.get("agrees_with"), "disk_peak_bytes": disk.get("peak_bytes"), **found, **levels}


def make(search, run):
    """The first computation; run takes the program's words and gives its JSON."""
    arguments = search.arguments()
    found = flat(json.loads(run(*arguments, *["--list", str(LISTED)] * search.complete, "--format", "json")))
    return said(search, found, arguments)


def said(search, found, arguments):
    """What a file says, from the JSON of a command."""
    kept = ("puzzle", "engine", "kernel", "threads", "states", "counts", "reduced", "symmetries", "total", "checksums", "kept",
            "seconds", "level_seconds", "peak_memory_bytes", "published", "version")
    result = {"name": search.name, **{key: found[key] for key in kept}}
    result["level_seconds"] = [round(seconds, 6) for seconds in found["level_seconds"]]
    if search.complete:
        result |= {key: found[key] for key in ("complete", "diameter", "antipodes", "mean_depth", "last")}
    return result | {"command": f"tilewave {' '.join(arguments)} --format json", "confirmed": []}


def of_long(search, found):
    """The words of the command that took long, or hours in a directory, from its JSON."""
    # Of the last levels none has bytes: one is not stored in any case. How much memory there was, the report does not say.
    counted = next((n for n, size in enumerate(reversed(found["level_bytes"])) if size), 0)
    ahead = [f"--count-ahead={counted - 1}"] if counted > 1 else []
    directory = [] if found["disk_peak_bytes"] is None else ["--dir", "DIR"]
    return [*search.arguments(len(found["counts"]) - 1)[:-2], *directory, *ahead]


def taken(search, result, found, run):
    """A file and the JSON of a long command: of the same search, to a larger depth, or of the search on the board turned round.
    That one confirms the file; of the two the deeper is the file."""
    found, depth = flat(found), len(result["counts"]) - 1
    same = found["puzzle"] != result["puzzle"] or found["checksums"][:depth] == result["checksums"][:depth]
    if same or not is_turned(search, found, run):
        return deepen(search, result, found)
    compared = ("counts", "reduced")
    by = {"by": "orientation", "how": search.turned_words(), "equal": " and ".join(compared),
          "to_depth": equal(result, found, compared, "the report")}
    other = said(search.turned(), found, of_long(search.turned(), found))
    if len(found["counts"]) > len(result["counts"]):
        by |= {"how": search.turned().turned_words(), "command": result["command"]}
        # Another kernel's checksums are of the other search's states; a plain search in Python has counts alone.
        return other | {"confirmed": [c for c in result["confirmed"] if c["by"] == "plain"] + [by]}
    before = {c["by"]: c for c in result["confirmed"]}
    if before.get("orientation", {"to_depth": -1})["to_depth"] >= by["to_depth"]:
        raise ValueError(f"the file is confirmed to depth {before['orientation']['to_depth']}, the report goes no deeper")
    return result | {"confirmed": [*(before | {"orientation": by | {"command": other["command"]}}).values()]}


def is_turned(search, found, run):
    """Whether a report is of the search in another orientation: a short search of it has the same checksums."""
    if not search.board or search.image() is None:
        return False
    depth = min(8, len(found["counts"]) - 1)
    short = flat(json.loads(run(*search.arguments(depth, search.image()), "--format", "json")))
    return short["checksums"] == found["checksums"][: depth + 1]


def equal(result, found, keys, who):
    """The last depth that both have; an error if they differ before."""
    last = min(len(result["counts"]), len(found["counts"])) - 1
    for key in keys:
        if found[key][: last + 1] != result[key][: last + 1]:
            raise ValueError(f"{who} has other {key} than the file: neither is to be trusted")
    return last


def deepen(search, result, found):
    """The same search to a larger depth, from the JSON of a command. What confirms the levels of the file confirms those of
    the longer search, which must be equal."""
    if len(found["counts"]) <= len(result["counts"]):
        raise ValueError(f"the file goes to depth {len(result['counts']) - 1}, the report no deeper")
    if any(found[key] != result[key] for key in ("puzzle", "symmetries")):
        raise ValueError("the report is of another puzzle than the file, or of other symmetries")
    equal(result, found, ("counts", "reduced", "checksums"), "the report")
    return said(search, found, of_long(search, found)) | {"confirmed": result["confirmed"]}


def confirm(search, result, by, run):
    """A second computation by other means: what it says of itself; a level that differs is an error."""
    last, compared, setting = search.depth or result["diameter"], ("counts", "checksums", "reduced"), ""
    if by == "plain":
        other = {"counts": search.plain(PLAIN)}
        last, compared = len(other["counts"]) - 1, ("counts",)
        command, how = "tools/results compute", "a plain search in Python"
    elif by == "kernel":
        # Other memory: another coordinate, or lists that are coded.
        kernel, arguments = ANOTHER[result["kernel"]], [*search.arguments(memory=search.less_memory()), "--threads", "1"]
        setting, how = f"TILEWAVE_KERNEL={kernel} ", f"the {kernel} kernel on one thread with less memory"
    elif by == "orientation":
        arguments, compared = search.turned_arguments(), ("counts", "reduced")
        how = search.turned_words()
    else:
        last -= 2
        arguments, compared = [*search.arguments(last), "--no-symmetry"], ("counts", "checksums")
        how = "a search that stores symmetric states, too"
    if by != "plain":
        other = flat(json.loads(run(*arguments, "--format", "json", kernel=kernel if by == "kernel" else None)))
        if search.complete and len(other["counts"]) != last + 1:
            raise ValueError(f"{how} ends at another depth: neither is to be trusted")
        command = f"{setting}tilewave {' '.join(arguments)} --format json"
    # States up to symmetry are not counted where the program did without symmetries.
    compared = [key for key in compared if result[key] and other[key]]
    for key in compared:
        for depth in range(last + 1):
            if other[key][depth] != result[key][depth]:
                raise ValueError(f"{how} finds other {key} at depth {depth}: neither is to be trusted")
    return {"by": by, "how": how, "equal": " and ".join(compared), "to_depth": last, "command": command}


def faults(search, result, truth):
    """What is wrong with a file, one line each."""
    counts, depth = result["counts"], len(result["counts"]) - 1
    if result["name"] != search.name or not search.complete and depth < search.depth:
        yield f"it is another search, or not to depth {search.depth}"
    if search.complete:
        mean = sum(depth * count for depth, count in enumerate(counts)) / sum(counts)
        if not result["complete"] or result["total"] != search.number or result["states"] not in (None, str(search.number)):
            yield f"it is not a search of all {search.number:,} states"
        if (result["diameter"], result["antipodes"]) != (depth, counts[-1]) or abs(mean - result["mean_depth"]) > 1e-9 * mean:
            yield "God's number, antipodes or mean depth are not those of its levels"
        if len(set(result["last"])) != min(LISTED, counts[-1]):
            yield "its antipodes are not all listed, or twice"
        if truth and len(truth["counts"]) != depth + 1:
            yield f"it does not end where {truth['source']} ends"
    if not depth + 1 == len(result["checksums"]) == len(result["level_seconds"]) == len(result["reduced"] or counts):
        yield "it has not one count, checksum and time for each level"
    if counts[0] != 1 or sum(counts) != result["total"]:
        yield "its levels do not begin with one state, or do not sum to its total"
    if any(not n <= m * result["symmetries"] or m > n for n, m in zip(counts, result["reduced"] or [])):
        yield "a level has more states up to symmetry than states, or too few"
    if truth and counts[: len(truth["counts"])] != truth["counts"][: depth + 1]:
        yield f"a level differs from {truth['source']}"
    if {c["by"] for c in result["confirmed"]} != set(search.confirmations()):
        yield f"not all that can confirm it does: tools/results {search.folder} {search.name}"


def published(root):
    """Published first levels, by the names of the searches."""
    known = json.loads((root / "tests/data/frontier.json").read_text())
    return {"5x5": known["5x5 corner"], "3x3x3-htm": known["3x3x3 powers"], "3x3x3-qtm": known["3x3x3 quarter"]}


def table(found, truths):
    """The index of searches to a depth."""
    lines = ["| search | metric | depth | states at this depth | up to symmetry | symmetries | confirmed by | published |",
             "|---|---|---:|---:|---:|---:|---|---|"]
    for search, result in found:
        depth = len(result["counts"]) - 1
        by = ", ".join(c["by"] + ("" if c["to_depth"] == depth else f" to {c['to_depth']}") for c in result["confirmed"])
        truth = truths.get(search.name)
        levels = min(len(truth["counts"]), depth + 1) - 1 if truth else 0
        cited = f"{truth['source'].split(' (')[0]}, to {levels}" if truth else "**not found**"
        reduced = f"{result['reduced'][-1]:,}" if result["reduced"] else ""
        lines.append(f"| [{search.name}](depths/{search.name}.json) | {search.metric} | {depth} | {result['counts'][-1]:,} | "
                     f"{reduced} | {result['symmetries']} | {by} | {cited} |")
    return "\n".join(lines) + "\n"


def csv(found):
    """All levels of all searches to a depth."""
    lines = ["search,puzzle,goal_blank,metric,depth,states,states_up_to_symmetry,checksum"]
    for search, result in found:
        blank = search.cell if search.board else ""
        reduced = result["reduced"] or [""] * len(result["counts"])
        for depth, row in enumerate(zip(result["counts"], reduced, result["checksums"])):
            lines.append(f"{search.name},{result['puzzle']},{blank},{search.metric},{depth},{row[0]},{row[1]},{row[2]}")
    return "\n".join(lines) + "\n"
