// The frame of every solution: where we stand, playback, the list of moves. What a state looks like is up to `drawing`,
// which board.js or puzzle.js hands over: open(solution) returns the walk and draws what stays, show() the state.
const PAGE = 300; // moves listed at once: a page of buttons stays quick to lay out
const SPEEDS = [0.5, 1, 2, 4, 8, 16, 32, 64, 250];
const find = (id) => document.getElementById(id);
const data = JSON.parse(find("data").textContent);
const slider = find("slider");
const count = (number) => number.toLocaleString("en-US");
const plural = (number, noun) => `${count(number)} ${noun}${number === 1 ? "" : "s"}`;

let chosen = 0;
let walk;
let drawing;
let listed = -1; // the page of moves that is shown
let playing = null; // time of the last frame while playing

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

function choose(index, position = 0) {
  pause();
  chosen = index;
  const solution = data.solutions[index];
  walk = drawing.open(solution);
  find("name").textContent = drawing.name(solution);
  const verdict = solution.optimal ? ["shortest possible", "tag good"] : ["may not be the shortest", "tag"];
  find("headline").replaceChildren(
    walk.made(walk.length) ? `Solved in ${drawing.length(solution)} ` : "Already solved ",
    element("span", { class: verdict[1] }, verdict[0]),
  );
  find("choice").value = index;
  find("previous").disabled = index === 0;
  find("next").disabled = index === data.solutions.length - 1;
  find("length").textContent = count(walk.made(walk.length));
  find("pieces").textContent = count(walk.pieces);
  slider.max = walk.length;
  find("speed").value = SPEEDS.find((speed) => speed >= 2 && walk.length / speed <= 60) ?? SPEEDS.at(-1);
  pace();
  trace();
  listed = -1;
  seek(position);
}

// How far away the goal is over the moves, drawn above the slider.
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
  const moves = walk.length;
  const from = listed * PAGE;
  const to = Math.min(moves, from + PAGE);
  const entries = [];
  // Position 0 heads the first page.
  for (let at = listed ? from + 1 : 0; at <= to; at++) {
    const made = element("button", { type: "button", "data-at": at });
    if (at === 0) made.append("start");
    else {
      const [move, below] = drawing.entry(at);
      made.append(element("b", {}, move), element("small", {}, below));
      made.title = saying(at);
      made.setAttribute("aria-label", made.title);
    }
    entries.push(element("li", {}, made));
  }
  find("moves").replaceChildren(...entries);
  find("pages").hidden = moves <= PAGE;
  find("range").textContent = `${count(from + 1)} to ${count(to)} of ${count(moves)}`;
  find("earlier").disabled = from === 0;
  find("later").disabled = to === moves;
  find("notation").textContent = drawing.notation() || "no moves";
}

// A turn of the whole puzzle is no move.
const saying = (at) => (walk.made(at) > walk.made(at - 1) ? `Move ${count(walk.made(at))}: ` : "") + drawing.saying(at);

function show() {
  const { at, hand, length } = walk;
  const distance = walk.distance();
  drawing.show();
  find("board").classList.toggle("solved", distance === 0);
  slider.value = at;
  slider.setAttribute("aria-valuetext", `${at} of ${length}`);
  find("made").textContent = count(walk.made(at));
  find("beside").textContent = hand.length ? `, ${count(hand.length)} by hand` : "";
  find("placed").textContent = count(walk.placed());
  find("distance").textContent = count(distance);
  find("back").hidden = hand.length === 0;
  find("caption").textContent = caption(distance === 0);
  for (const id of ["first", "backward"]) find(id).disabled = at === 0 && !hand.length;
  find("forward").disabled = at === length || hand.length > 0;
  find("last").disabled = at === length && !hand.length;
  mark();
}

function caption(solved) {
  const { at, hand, length } = walk;
  if (hand.length) {
    const made = `${plural(hand.length, "move")} by hand`;
    return solved ? `Solved, with ${made}` : `${made}, after move ${count(at)}`;
  }
  if (at === length) return length ? `${saying(at)}. Solved!` : "Already solved";
  return at === 0 ? "Start" : saying(at);
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
  } else if (by < 0) drawing.undo();
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
  find("board").style.setProperty("--slide", `${Math.min(200, 800 / Number(find("speed").value))}ms`);
}

function play() {
  if (walk.at === walk.length) seek(0);
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
    if (walk.at === walk.length) pause();
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
on("last", () => { pause(); seek(walk.length); });
on("return", home);
on("undo", () => drawing.undo());
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
addEventListener("hashchange", recall);

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("select, [type=radio]")) return;
  const { key } = event;
  const letter = key.toUpperCase();
  const pressed = event.target.closest("button, summary");
  if (key === " " && !pressed) toggle();
  else if (event.target === slider && key !== "Escape" && !drawing.keys.includes(letter)) return; // has arrows of its own
  else if (key === "ArrowLeft") step(-1);
  else if (key === "ArrowRight") step(1);
  else if (key === "Home") { pause(); seek(0); }
  else if (key === "End") { pause(); seek(walk.length); }
  else if (key === "Escape") home();
  else if (drawing.keys.includes(letter)) drawing.press(letter);
  else return;
  event.preventDefault();
});

// Begins with a drawing, of boards or of other puzzles; what is for the others is hidden.
function start(by, kind) {
  drawing = by;
  for (const part of document.querySelectorAll("[data-for]")) part.hidden = part.dataset.for !== kind;
  for (const speed of SPEEDS) find("speed").append(new Option(`${speed === 0.5 ? "½" : speed} / s`, speed));
  data.solutions.forEach((solution, index) => {
    find("choice").append(new Option(`${index + 1}. ${drawing.name(solution)}: ${drawing.length(solution)}`, index));
  });
  find("chooser").hidden = data.solutions.length === 1;
  recall();
}
