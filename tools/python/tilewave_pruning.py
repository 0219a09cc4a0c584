#!/usr/bin/env python3
"""Reads tilewave's pruning tables (docs/format.md) and prints the depth of each state.

    tilewave_pruning.py FILE < STATES

A state is a line in the form that `tilewave state PUZZLE` prints, with the table's sets in order: for each position, the
kind of piece, counted from 1, and after a slash its orientation. The program needs only Python and handles a
thousand states per second. It is an independent check of the format, not a tool for many lookups.
"""

import json
import math
import struct
import sys


def groups(puzzle):
    """The groups of positions that exchange pieces: (orbit, positions)."""
    for index, orbit in enumerate(puzzle["orbits"]):
        count = len(orbit["solved"])
        turns = [move["transformation"][index] for move in puzzle["moves"]]
        least = list(range(count))
        changed = True
        while changed:
            changed = False
            for turn in turns:
                for to, source in enumerate(turn["source"]):
                    low = min(least[to], least[source])
                    changed |= (least[to], least[source]) != (low, low)
                    least[to] = least[source] = low
        moved = {p for turn in turns for p in range(count) if turn["source"][p] != p or turn["twist"][p]}
        for first in range(count):
            positions = [p for p in range(count) if least[p] == first]
            if moved.intersection(positions):
                yield index, positions


def odd(row):
    return sum(a > b for i, a in enumerate(row) for b in row[i + 1:]) % 2


class Group:
    """The digits of a group, and how many values each has."""

    def __init__(self, puzzle, index, positions, first):
        orbit = puzzle["orbits"][index]
        self.index, self.positions, self.moduli = index, positions, orbit["moduli"]
        self.solved = [orbit["solved"][p] for p in positions]
        kinds = [piece["kind"] for piece in self.solved]
        # Kinds whose digits are those of a coordinate come first, and so do groups whose pieces are all distinct there.
        self.first = first["kinds"][index] if first else []
        self.turns_first = bool(first) and first["turns"]
        ordered = sorted(set(kinds), key=lambda k: (k not in self.first, k))
        self.single = [k for k in ordered if kinds.count(k) == 1]
        self.several = [k for k in ordered if kinds.count(k) > 1]
        self.is_known = bool(self.single) and all(k in self.first for k in self.single)
        self.count = {k: kinds.count(k) for k in self.several}
        modulus = self.moduli[kinds[0]]
        twists = [[move["transformation"][index]["twist"][p] for p in positions] for move in puzzle["moves"]]
        self.constant_sum = (
            modulus > 1
            and all(self.moduli[k] == modulus for k in kinds)
            and all(sum(twist) % modulus == 0 for twist in twists)
        )
        self.odd_moves = [
            odd([positions.index(move["transformation"][index]["source"][p]) for p in positions])
            for move in puzzle["moves"]
        ]
        self.follows = False

    def digits(self, row):
        """The digits of the pieces at the group's positions: (digit, values, whether it belongs to the coordinate)."""
        pieces = [row[p] for p in self.positions]
        free = list(range(len(pieces)))
        order, places = [], []
        for kind in self.single:
            at = next(i for i, (k, _) in enumerate(pieces) if k == kind)
            places.append((free.index(at), len(free), kind in self.first))
            free.remove(at)
            order.append(at)
        if self.follows:
            del places[-2]
        for kind in self.several:
            set_ = [i for i, at in enumerate(free) if pieces[at][0] == kind]
            number = sum(math.comb(at, nth + 1) for nth, at in enumerate(set_))
            places.append((number, math.comb(len(free), len(set_)), kind in self.first))
            order += [free[i] for i in set_]
            free = [at for i, at in enumerate(free) if i not in set_]
        kinds = [pieces[at][0] for at in order]
        is_first = [self.turns_first and kind in self.first for kind in kinds]
        turns = [(pieces[at][1], self.moduli[kind], first) for at, kind, first in zip(order, kinds, is_first)]
        return places + (turns[:-1] if self.constant_sum else turns)


class Table:
    def __init__(self, path):
        with open(path, "rb") as file:
            data = file.read()
        if data[:8] != b"TWPRU\r\n\x1a":
            raise SystemExit(f"{path} is not a pruning table")
        self.bits, deepest = data[16], data[17]
        self.entries, self.states = struct.unpack_from("<QQ", data, 24)
        begin, length = struct.unpack_from("<QQ", data, 64)
        name, text, numbers = struct.unpack_from("<QQQ", data, 104)
        self.histogram = struct.unpack_from(f"<{deepest + 1}Q", data, 256)
        self.name = data[4096:4096 + name].decode()
        self.puzzle = json.loads(data[4096 + name:4096 + text - numbers])
        self.reduced = json.loads(data[4096 + text - numbers:4096 + text]) if numbers else None
        first = self.reduced and self.reduced["coordinate"]
        self.data = data[begin:begin + length]
        self.groups = [Group(self.puzzle, *group, first) for group in groups(self.puzzle)]
        self.groups.sort(key=lambda group: not group.is_known)
        independent = []
        for group in self.groups:
            if group.several or len(group.single) < 2:
                continue
            row = list(group.odd_moves)
            for other in independent:
                if row[other.index(1)]:
                    row = [a ^ b for a, b in zip(row, other)]
            group.follows = not any(row)
            if any(row):
                independent.append(row)

    def parts(self, state):
        """The number of the coordinate, and that of the rest; a table of all states has no coordinate."""
        first = rest = 0
        for group in self.groups:
            for digit, values, is_first in group.digits(state[group.index]):
                if is_first:
                    first = first * values + digit
                else:
                    rest = rest * values + digit
        return first, rest

    def image(self, symmetry, state):
        image = [list(row) for row in state]
        for index, (orbit, row) in enumerate(zip(self.puzzle["orbits"], state)):
            each = orbit["orientations"]
            for position, (kind, turn) in enumerate(row):
                at = symmetry["location"][index][position * each + turn]
                to, ahead = symmetry["kind"][index][kind]
                turned = (at % each - ahead) % orbit["moduli"][kind]
                image[symmetry["orbit"][index]][at // each] = (to, turned)
        return image

    def number(self, state):
        if not self.reduced:
            return self.parts(state)[1]
        images = [self.parts(self.image(symmetry, state)) for symmetry in self.reduced["symmetries"]]
        least = min(first for first, _ in images)
        rest = next(rest for first, rest in images if first == least)
        classes = self.reduced["least"]
        return classes.index(least) * (self.entries // len(classes)) + rest

    def entry(self, number):
        each = 8 // self.bits
        entry = self.data[number // each] >> (number % each * self.bits) & (1 << self.bits) - 1
        return None if entry == (1 << self.bits) - 1 else entry

    def after(self, state, move):
        after = []
        for orbit, turn, row in zip(self.puzzle["orbits"], move["transformation"], state):
            moduli = orbit["moduli"]
            rows = [(row[s][0], (row[s][1] + t) % moduli[row[s][0]]) for s, t in zip(turn["source"], turn["twist"])]
            after.append(rows)
        return after

    def depth(self, state):
        """The depth of a state, or None if the table does not contain it."""
        entry = self.entry(self.number(state))
        if entry is None or self.bits > 2:
            return entry
        solved = [[(piece["kind"], piece["turn"]) for piece in orbit["solved"]] for orbit in self.puzzle["orbits"]]
        depth = 0
        while state != solved:
            entry = (entry + 2) % 3
            after = (self.after(state, move) for move in self.puzzle["moves"])
            state = next(state for state in after if self.entry(self.number(state)) == entry)
            depth += 1
        return depth


def parse(line):
    state = []
    for text in line.split(";"):
        words = text.replace("/", " / ").split()
        if not words[0].isdigit():
            words = words[1:]
        pieces, _, turns = " ".join(words).partition("/")
        pieces = [int(word) - 1 for word in pieces.split()]
        turns = [int(word) for word in turns.split()] or [0] * len(pieces)
        state.append(list(zip(pieces, turns)))
    return state


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    table = Table(sys.argv[1])
    for line in sys.stdin:
        print(table.depth(parse(line)))
