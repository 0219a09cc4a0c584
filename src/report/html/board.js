// Boards: tiles that slide, also by hand.
const WORDS = { U: "up", D: "down", L: "left", R: "right" };
let faces = []; // the button of every tile
let style = data.style;

const written = (direction) => (style === "blank" ? OPPOSITE[direction] : direction);

// Tells the styles how many columns there are, and how large a number may be.
function shape(host, cols, cells) {
  host.style.setProperty("--cols", cols);
  host.style.setProperty("--fit", cells <= 100 ? 40 : cells <= 1000 ? 31 : 24);
}

function miniature(host, tiles, cols) {
  const cells = tiles.map((tile) => element("span", tile ? {} : { class: "gap" }, tile ? `${tile}` : ""));
  host.replaceChildren(...cells);
  host.className = "mini";
  shape(host, cols, tiles.length);
  const rows = [];
  for (let i = 0; i < tiles.length; i += cols) rows.push(tiles.slice(i, i + cols).join(" "));
  host.setAttribute("aria-label", rows.join(" / "));
}

function undo() {
  byHand([OPPOSITE[walk.hand.at(-1)]]);
}

function byHand(directions) {
  pause();
  directions.forEach((direction) => walk.push(direction));
  show();
  remember();
}

find("board").addEventListener("click", (event) => {
  const face = event.target.closest(".tile");
  if (!face) return;
  byHand(walk.toward(walk.tiles.indexOf(Number(face.dataset.tile))));
  if (event.detail) face.blur();
});
find("style").addEventListener("change", (event) => {
  style = event.target.value;
  list();
  show();
});
find("style").querySelector(`[value=${style}]`).checked = true;

start({
  keys: Object.keys(OPPOSITE),
  press: (letter) => byHand([written(letter)]),
  undo,
  name: ({ label, start, cols }) => label ?? `${start.length / cols}x${cols} board`,
  // Where several tiles may go at once a solution has fewer moves than slides of one tile.
  length: ({ moves, length }) => (length ? `${plural(length, "move")} of one or more tiles` : plural(moves.length, "move")),
  entry: (at) => [written(walk.moves[at - 1]), `${walk.movers[at - 1]}`],
  saying: (at) => `tile ${walk.movers[at - 1]} moves ${WORDS[walk.moves[at - 1]]}`,
  notation: () => short(style === "blank" ? walk.moves.replace(/./g, (letter) => OPPOSITE[letter]) : walk.moves),

  open(solution) {
    const walk = new Walk(solution);
    const { rows, cols } = walk;
    miniature(find("start"), walk.start, cols);
    miniature(find("goal"), walk.goal, cols);
    const board = find("board");
    board.style.setProperty("--rows", rows);
    shape(board, cols, rows * cols);
    board.setAttribute("aria-label", `Board, ${rows} rows, ${cols} columns`);
    faces = [];
    for (let tile = 1; tile < rows * cols; tile++) {
      faces[tile] = element("button", { type: "button", class: "tile", "data-tile": tile }, element("span", {}, `${tile}`));
    }
    board.replaceChildren(...faces.slice(1));
    return walk;
  },

  show() {
    walk.tiles.forEach((tile, cell) => {
      if (!tile) return;
      const row = Math.floor(cell / walk.cols);
      const col = cell % walk.cols;
      const movable = row === Math.floor(walk.blank / walk.cols) || col === walk.blank % walk.cols;
      const face = faces[tile];
      const place = `translate(${col * 100}%, ${row * 100}%)`;
      if (face.style.transform !== place) face.style.transform = place;
      face.classList.toggle("home", walk.home[tile] === cell);
      face.tabIndex = movable ? 0 : -1;
      face.setAttribute("aria-disabled", String(!movable));
      face.setAttribute("aria-label", `Tile ${tile}, row ${row + 1}, column ${col + 1}`);
    });
    find("distance").textContent = count(walk.distance());
  },
}, "boards");
