const PAGE = 300; // moves listed at once: a page of buttons stays quick to lay out
const SPEEDS = [0.5, 1, 2, 4, 8, 16, 32, 64, 250];
const WORDS = { U: "up", D: "down", L: "left", R: "right" };
const find = (id) => document.getElementById(id);
const data = JSON.parse(find("data").textContent);
const board = find("board");
const slider = find("slider");
const count = (number) => number.toLocaleString("en-US");
const plural = (number, noun) => `${count(number)} ${noun}${number === 1 ? "" : "s"}`;

let chosen = 0;
let walk;
let faces = []; // the button of every tile
let listed = -1; // the page of moves that is shown
let style = data.style;
let playing = null; // time of the last frame while playing

// The moves of a solution: where several tiles may go at once it has fewer than it has slides of one tile.
const inMoves = ({ moves, length }) => (length ? `${plural(length, "move")} of one or more tiles` : plural(moves.length, "move"));
const written = (direction) => (style === "blank" ? OPPOSITE[direction] : direction);

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

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

function choose(index, position = 0) {
  pause();
  chosen = index;
  const solution = data.solutions[index];
  walk = new Walk(solution);
  const { rows, cols, moves } = walk;
  const size = `${rows}x${cols}`;
  find("name").textContent = solution.label ?? `${size} board`;
  const verdict = solution.optimal ? ["shortest possible", "tag good"] : ["may not be the shortest", "tag"];
  find("headline").replaceChildren(
    moves.length ? `Solved in ${inMoves(solution)} ` : "Already solved ",
    element("span", { class: verdict[1] }, verdict[0]),
  );
  find("choice").value = index;
  find("previous").disabled = index === 0;
  find("next").disabled = index === data.solutions.length - 1;
  find("length").textContent = count(moves.length);
  find("tiles").textContent = count(rows * cols - 1);
  miniature(find("start"), walk.start, cols);
  miniature(find("goal"), walk.goal, cols);
  slider.max = moves.length;
  board.style.setProperty("--rows", rows);
  shape(board, cols, rows * cols);
  board.setAttribute("aria-label", `Board, ${rows} rows, ${cols} columns`);
  faces = [];
  for (let tile = 1; tile < rows * cols; tile++) {
    faces[tile] = element("button", { type: "button", class: "tile", "data-tile": tile }, element("span", {}, `${tile}`));
  }
  board.replaceChildren(...faces.slice(1));
  find("speed").value = SPEEDS.find((speed) => speed >= 2 && moves.length / speed <= 60) ?? SPEEDS.at(-1);
  pace();
  trace();
  listed = -1;
  seek(position);
}

// The Manhattan distance over the moves, drawn above the slider.
function trace() {
  const { distances } = walk;
  const last = distances.length - 1;
  const top = distances.reduce((a, b) => Math.max(a, b), 1);
  const points = Math.min(last, 600);
  const curve = [];
  for (let i = 0; i <= points; i++) {
    const at = points ? Math.round((i * last) / points) : 0;
    curve.push(`${(100 * at) / (last || 1)} ${96 - (92 * distances[at]) / top}`);
  }
  const line = `M${curve.join("L")}`;
  find("trace").querySelector(".curve").setAttribute("d", line);
  find("trace").querySelector(".area").setAttribute("d", `${line}L100 100L0 100Z`);
}

function list() {
  const { moves, movers } = walk;
  const from = listed * PAGE;
  const to = Math.min(moves.length, from + PAGE);
  const entries = [];
  // Position 0 heads the first page.
  for (let at = listed ? from + 1 : 0; at <= to; at++) {
    const made = element("button", { type: "button", "data-at": at });
    if (at === 0) made.append("start");
    else {
      const letter = written(moves[at - 1]);
      made.append(element("b", {}, letter), element("small", {}, `${movers[at - 1]}`));
      made.title = `Move ${at}: ${saying(at)}`;
      made.setAttribute("aria-label", made.title);
    }
    entries.push(element("li", {}, made));
  }
  find("moves").replaceChildren(...entries);
  find("pages").hidden = moves.length <= PAGE;
  find("range").textContent = `${count(from + 1)} to ${count(to)} of ${count(moves.length)}`;
  find("earlier").disabled = from === 0;
  find("later").disabled = to === moves.length;
  const letters = style === "blank" ? moves.replace(/./g, (letter) => OPPOSITE[letter]) : moves;
  find("notation").textContent = short(letters) || "no moves";
}

const saying = (at) => `tile ${walk.movers[at - 1]} moves ${WORDS[walk.moves[at - 1]]}`;

function show() {
  const { at, hand, tiles, moves } = walk;
  const distance = walk.distance();
  const solved = distance === 0;
  tiles.forEach((tile, cell) => {
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
  board.classList.toggle("solved", solved);
  slider.value = at;
  slider.setAttribute("aria-valuetext", `${at} of ${moves.length}`);
  find("made").textContent = count(at);
  find("beside").textContent = hand.length ? `, ${count(hand.length)} by hand` : "";
  find("placed").textContent = count(walk.placed());
  find("distance").textContent = count(distance);
  find("back").hidden = hand.length === 0;
  find("caption").textContent = caption(solved);
  for (const id of ["first", "backward"]) find(id).disabled = at === 0 && !hand.length;
  find("forward").disabled = at === moves.length || hand.length > 0;
  find("last").disabled = at === moves.length && !hand.length;
  mark();
}

function caption(solved) {
  const { at, hand, moves } = walk;
  if (hand.length) {
    const made = `${plural(hand.length, "move")} by hand`;
    return solved ? `Solved, with ${made}` : `${made}, after move ${count(at)}`;
  }
  if (at === moves.length) return moves.length ? `Move ${count(at)}: ${saying(at)}. Solved!` : "Already solved";
  if (at === 0) return "Start";
  return `Move ${count(at)}: ${saying(at)}`;
}

// Marks the current move in the list, and turns to its page.
function mark() {
  const page = Math.max(0, Math.ceil(walk.at / PAGE) - 1);
  if (page !== listed) {
    listed = page;
    list();
  }
  const host = find("moves");
  const focused = host.contains(document.activeElement);
  for (const made of host.querySelectorAll("button")) {
    const at = Number(made.dataset.at);
    made.classList.toggle("past", at < walk.at);
    made.tabIndex = at === walk.at ? 0 : -1;
    if (at !== walk.at) {
      made.removeAttribute("aria-current");
      continue;
    }
    made.setAttribute("aria-current", "step");
    // Scrolls the list alone: scrollIntoView would move the page as well.
    const middle = made.offsetTop - (host.clientHeight - made.offsetHeight) / 2;
    if (made.offsetTop < host.scrollTop || made.offsetTop + made.offsetHeight > host.scrollTop + host.clientHeight) host.scrollTop = middle;
    if (focused) made.focus({ preventScroll: true });
  }
}

function seek(position) {
  walk.seek(position);
  show();
  remember();
}

// A step is a move of the solution; beside it, back takes a move of the hand, and on leads nowhere.
function step(by) {
  if (!walk.hand.length) {
    pause();
    seek(walk.at + by);
  } else if (by < 0) undo();
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

// Keeps the position in the address, so that a link can point at it.
let remembering;
function remember() {
  clearTimeout(remembering);
  if (location.protocol === "about:") return; // a frame of another page: no address of its own
  remembering = setTimeout(() => {
    const here = `#solution=${chosen + 1}&move=${walk.at}`;
    if (here !== location.hash) history.replaceState(null, "", here);
  }, 400);
}

function recall() {
  const wanted = new URLSearchParams(location.hash.slice(1));
  const index = Number(wanted.get("solution")) - 1;
  const known = Number.isInteger(index) && index in data.solutions;
  choose(known ? index : 0, known ? Math.trunc(Number(wanted.get("move"))) || 0 : 0);
}

function pace() {
  // A slide ends before the next one begins.
  board.style.setProperty("--slide", `${Math.min(200, 800 / Number(find("speed").value))}ms`);
}

function play() {
  if (walk.at === walk.moves.length) seek(0);
  else seek(walk.at);
  let due = walk.at + 0.999; // the first move starts at once
  playing = performance.now();
  press(true);
  const frame = (now) => {
    if (playing === null) return;
    // A page in the background gets no frames: it goes on where it was.
    due += (Math.min(250, now - playing) / 1000) * Number(find("speed").value);
    playing = now;
    if (Math.floor(due) > walk.at) seek(Math.floor(due));
    if (walk.at === walk.moves.length) pause();
    else requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
}

function pause() {
  playing = null;
  press(false);
}

function press(on) {
  find("play").classList.toggle("playing", on);
  find("play").setAttribute("aria-label", on ? "Pause" : "Play");
  // Nobody can listen to eight moves a second.
  find("caption").setAttribute("aria-live", on ? "off" : "polite");
}

const toggle = () => (playing === null ? play() : pause());
const home = () => seek(walk.at);

function on(id, action) {
  find(id).addEventListener("click", (event) => {
    action();
    // After a click with the pointer the keys belong to the player again, not to the button.
    if (event.detail) find(id).blur();
  });
}

on("first", () => { pause(); seek(0); });
on("backward", () => step(-1));
on("play", toggle);
on("forward", () => step(1));
on("last", () => { pause(); seek(walk.moves.length); });
on("return", home);
on("undo", undo);
on("previous", () => choose(chosen - 1));
on("next", () => choose(chosen + 1));
on("earlier", () => { pause(); seek((listed - 1) * PAGE + 1); });
on("later", () => { pause(); seek((listed + 1) * PAGE + 1); });
on("copy", async () => {
  const notation = find("notation");
  try {
    await navigator.clipboard.writeText(notation.textContent);
    find("copy").textContent = "Copied";
    setTimeout(() => { find("copy").textContent = "Copy"; }, 1500);
  } catch {
    getSelection().selectAllChildren(notation); // ready for the copy key
  }
});
slider.addEventListener("input", () => { pause(); seek(Number(slider.value)); });
find("speed").addEventListener("change", pace);
find("choice").addEventListener("change", () => choose(Number(find("choice").value)));
find("moves").addEventListener("click", (event) => {
  const made = event.target.closest("button");
  if (made) { pause(); seek(Number(made.dataset.at)); }
});
board.addEventListener("click", (event) => {
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
addEventListener("hashchange", recall);

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("select, [type=radio]")) return;
  const { key } = event;
  const letter = key.toUpperCase();
  const pressed = event.target.closest("button, summary");
  if (key === " " && !pressed) toggle();
  else if (event.target === slider && key !== "Escape" && !(letter in OPPOSITE)) return; // has arrows of its own
  else if (key === "ArrowLeft") step(-1);
  else if (key === "ArrowRight") step(1);
  else if (key === "Home") { pause(); seek(0); }
  else if (key === "End") { pause(); seek(walk.moves.length); }
  else if (key === "Escape") home();
  else if (letter in OPPOSITE) byHand([written(letter)]);
  else return;
  event.preventDefault();
});

for (const speed of SPEEDS) find("speed").append(new Option(`${speed === 0.5 ? "½" : speed} / s`, speed));
data.solutions.forEach((solution, index) => {
  const name = solution.label ?? `${solution.start.length / solution.cols}x${solution.cols} board`;
  find("choice").append(new Option(`${index + 1}. ${name}: ${inMoves(solution)}`, index));
});
find("chooser").hidden = data.solutions.length === 1;
find("style").querySelector(`[value=${style}]`).checked = true;
recall();
