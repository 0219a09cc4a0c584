"""What mypy has to refuse: one error on every line that ends with a remark."""

import tilewave

tilewave.bfs("3x3", metric="ltm")  # no metric
tilewave.bfs("3x3", depth=5)  # no such option
tilewave.bfs("3x3").diameter + 1  # it may be None
tilewave.bfs("3x3", progress=lambda depth: None)  # it gets three
tilewave.PatternDatabase.build("3x3", ["1", "2"])  # tiles are numbers
tilewave.DistanceTable.open(5)  # no path
tilewave.solve("1 2/3 0").length  # no such attribute
tilewave.scramble(3, 3)  # a puzzle is a text
tilewave.bfs("3x3x3", memory=1.5)  # bytes, or a size
tilewave.PatternDatabase.build("3x3", [1])["1 2 3"]  # a function, not a mapping
