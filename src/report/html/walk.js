const OPPOSITE = { U: "D", D: "U", L: "R", R: "L" };

// One solution and where we stand: after `at` of its moves, then after the moves in `hand` that
// left it. Letters say where the tile goes.
class Walk {
  constructor({ cols, start, goal, moves }) {
    Object.assign(this, { cols, start, goal, moves, rows: start.length / cols });
    this.home = [];
    goal.forEach((tile, cell) => { this.home[tile] = cell; });
    this.tiles = start.slice();
    this.blank = start.indexOf(0);
    this.at = 0;
    this.hand = [];
    this.distances = [this.distance()];
    this.movers = [];
    for (const direction of moves) {
      const from = this.source(direction);
      const tile = this.tiles[from];
      const change = this.away(tile, this.blank) - this.away(tile, from);
      this.distances.push(this.distances.at(-1) + change);
      this.movers.push(tile);
      this.slide(direction);
    }
    this.tiles = start.slice();
    this.blank = start.indexOf(0);
  }

  get length() {
    return this.moves.length;
  }

  get pieces() {
    return this.rows * this.cols - 1;
  }

  made(at) {
    return at;
  }

  // The cell of the tile that would go in this direction, -1 at the border.
  source(direction) {
    const { blank, cols, rows } = this;
    const col = blank % cols;
    switch (direction) {
      case "U": return blank + cols < rows * cols ? blank + cols : -1;
      case "D": return blank - cols;
      case "L": return col + 1 < cols ? blank + 1 : -1;
      default: return col > 0 ? blank - 1 : -1;
    }
  }

  slide(direction) {
    const from = this.source(direction);
    if (from < 0) return false;
    this.tiles[this.blank] = this.tiles[from];
    this.tiles[from] = 0;
    this.blank = from;
    return true;
  }

  // Goes to a position of the solution; moves made by hand are taken back first.
  seek(position) {
    while (this.hand.length) this.slide(OPPOSITE[this.hand.pop()]);
    position = Math.max(0, Math.min(this.moves.length, position));
    while (this.at < position) this.slide(this.moves[this.at++]);
    while (this.at > position) this.slide(OPPOSITE[this.moves[--this.at]]);
  }

  // A move by hand: along the solution, back along it, or beside it.
  push(direction) {
    if (!this.slide(direction)) return;
    const back = OPPOSITE[direction];
    if (this.hand.length) {
      if (this.hand.at(-1) === back) this.hand.pop();
      else this.hand.push(direction);
    } else if (this.moves[this.at] === direction) this.at++;
    else if (this.at && this.moves[this.at - 1] === back) this.at--;
    else this.hand.push(direction);
  }

  // The directions that bring the blank to a cell: none unless both stand in line.
  toward(cell) {
    const rows = Math.floor(cell / this.cols) - Math.floor(this.blank / this.cols);
    const cols = (cell % this.cols) - (this.blank % this.cols);
    if (rows && cols) return [];
    const direction = rows ? (rows > 0 ? "U" : "D") : cols > 0 ? "L" : "R";
    return Array(Math.abs(rows + cols)).fill(direction);
  }

  away(tile, cell) {
    const home = this.home[tile];
    const rows = Math.floor(cell / this.cols) - Math.floor(home / this.cols);
    return Math.abs(rows) + Math.abs((cell % this.cols) - (home % this.cols));
  }

  distance() {
    return this.tiles.reduce((sum, tile, cell) => sum + (tile ? this.away(tile, cell) : 0), 0);
  }

  placed() {
    return this.tiles.filter((tile, cell) => tile && this.home[tile] === cell).length;
  }
}

// The moves with repetitions counted: RD2L.
function short(moves) {
  return moves.replace(/(.)\1+/g, (run, letter) => letter + run.length);
}
