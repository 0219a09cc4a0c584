"""Korf's fifty 24-puzzles, solved with the fewest moves: docs/results/korf24.jsonl has an answer a line."""
import json
import re
import subprocess

# What a search in the other direction calls a move.
OPPOSITE = str.maketrans("UDLR", "DURL")


def instances(root):
    """The boards by the nodes that are published for them, the easiest first: board, number, length, nodes."""
    lines = [line.split() for line in (root / "tests/data/korf24.txt").read_text().splitlines() if not line.startswith("#")]
    rows = ["/".join(" ".join(words[1 + 5 * row:6 + 5 * row]) for row in range(5)) for words in lines]
    found = [(board, int(words[0]), int(words[-2]), int(words[-1])) for board, words in zip(rows, lines)]
    return sorted(found, key=lambda instance: instance[3])


def read(path):
    """The answers that there are, by their board."""
    lines = path.read_text().splitlines() if path.exists() else []
    return {answer["board"]: answer for answer in map(json.loads, lines)}


def text(root, answers):
    """The file: an answer a line, by the number of the instance."""
    rows = [{"instance": number, **answers[board]} for board, number, _, _ in instances(root) if board in answers]
    return "".join(json.dumps(row) + "\n" for row in sorted(rows, key=lambda row: row["instance"]))


def taken(line):
    """What is kept of a line of tilewave solve."""
    answer = json.loads(line)
    return {key: answer[key] for key in ("board", "length", "moves", "nodes", "seconds")}


def from_goal(board):
    """The search from the goal to a board: the cell of the blank of its own goal, and the board where it begins. A tile is
    called by the cell that it has on the given board, the blank's cell left out."""
    tiles = [int(tile) for tile in board.replace("/", " ").split()]
    blank = tiles.index(0)
    names = {tile: 0 if at == blank else at + (at < blank) for at, tile in enumerate(tiles)}
    begin = [str(names[tile]) for tile in range(25)]
    return blank, "/".join(" ".join(begin[row:row + 5]) for row in range(0, 25, 5))


def solve(root, program, directory, path, threads, backwards, write):
    """Solves what is not solved yet, easiest first, from the board to the goal or backwards; databases and logs in a directory,
    so that it goes on where it was stopped."""
    answers, known = read(path), instances(root)
    for board, number, *_ in known:
        if board in answers:
            continue
        blank, begin = from_goal(board) if backwards else (0, board)
        goal = ["--goal", f"blank={blank}"]
        databases = directory / f"set-{blank}/set.json"
        if not databases.exists():
            build = [program, "pdb", "set", "build", "5x5", *goal, "-M", "16GB", "-o", databases.parent, "--quiet"]
            subprocess.run(build, check=True)
        log = directory / f"{number}{'-backwards' if backwards else ''}.log"
        command = [program, "--quiet", "solve", begin, *goal, "--pdb", databases, "--log", log, "-j", str(threads), "--format", "jsonl"]
        solver = subprocess.run(command, stdout=subprocess.PIPE, text=True)
        for answer in map(taken, solver.stdout.splitlines()):
            # Whoever stops the solver is told of the board that it was at, too.
            if answer["moves"] is not None:
                if backwards:
                    answer |= {"board": board, "moves": shortened(plain(answer["moves"])[::-1].translate(OPPOSITE)), "backwards": True}
                answers[answer["board"]] = answer
                write(path, text(root, answers))
                print(f"{len(answers)} of {len(known)}: {answer['length']} moves, {answer['nodes']:,} nodes, {answer['seconds']:.1f} s", flush=True)
        if solver.returncode:
            return solver.returncode
    return 0


def faults(root, path, walk):
    """What is wrong with the answers, one line each."""
    known = {board: (number, length) for board, number, length, _ in instances(root)}
    goal = " ".join(map(str, range(25)))
    for board, answer in read(path).items():
        if known.get(board) != (answer["instance"], answer["length"]):
            yield f"instance {answer['instance']} is another board, or has another length than published"
            continue
        yield from walk(board, plain(answer["moves"]), goal, 5, "stm", answer["length"])


def plain(moves):
    """A solution a letter for each tile: U2 is UU."""
    letters = ""
    for word in moves:
        letters += letters[-1] * (int(word) - 1) if word.isdigit() else word
    return letters


def shortened(letters):
    """A solution as tilewave writes it: UU is U2."""
    return re.sub(r"(.)\1+", lambda run: run[1] + str(len(run[0])), letters)
