"""Plain searches in plain Python, to compare with."""

from collections import deque

# Where a tile goes, and where it comes from: the step from the blank to the tile.
STEPS = {"U": (1, 0), "D": (-1, 0), "L": (0, 1), "R": (0, -1)}


def moves(board, rows, cols):
    """The moves of a board, and the boards after them."""
    blank = board.index(0)
    for letter, (down, right) in STEPS.items():
        row, col = blank // cols + down, blank % cols + right
        if 0 <= row < rows and 0 <= col < cols:
            after = list(board)
            after[blank], after[row * cols + col] = after[row * cols + col], 0
            yield letter, tuple(after)


def depths(goal, rows, cols):
    """The depth of every board that can reach a goal."""
    known, queue = {tuple(goal): 0}, deque([tuple(goal)])
    while queue:
        board = queue.popleft()
        for _, after in moves(board, rows, cols):
            if after not in known:
                known[after] = known[board] + 1
                queue.append(after)
    return known


def pattern_values(goal, tiles, rows, cols):
    """The fewest moves of some tiles for every placement of theirs, the least over the blank."""
    goal = tuple(goal)
    begin = (tuple(goal.index(t) for t in tiles), goal.index(0))
    known, queue = {begin: 0}, deque([begin])
    while queue:
        places, blank = state = queue.popleft()
        for down, right in STEPS.values():
            row, col = blank // cols + down, blank % cols + right
            if not (0 <= row < rows and 0 <= col < cols):
                continue
            cell = row * cols + col
            cost = int(cell in places)
            after = (tuple(blank if p == cell else p for p in places), cell)
            if after not in known or known[after] > known[state] + cost:
                known[after] = known[state] + cost
                (queue.append if cost else queue.appendleft)(after)
    least = {}
    for (places, _), value in known.items():
        least[places] = min(value, least.get(places, value))
    return least


def growth(generators):
    """The states at each depth of the graph in which generator p leads from s to s[p]."""
    level, seen, counts = {tuple(range(len(generators[0])))}, set(), []
    while level:
        seen |= level
        counts.append(len(level))
        level = {tuple(s[i] for i in p) for s in level for p in generators} - seen
    return counts


def turning(generators, twists, orientations, solved):
    """The states at each depth where position i receives the piece (number, turn) of p[i], turned by a twist."""
    level, seen, counts = {tuple((piece, 0) for piece in solved)}, set(), []
    moves = [list(zip(p, t)) for p, t in zip(generators, twists)]

    def after(state, move):
        return tuple((state[at][0], (state[at][1] + by) % o) for (at, by), o in zip(move, orientations))

    while level:
        seen |= level
        counts.append(len(level))
        level = {after(state, move) for state in level for move in moves} - seen
    return counts
