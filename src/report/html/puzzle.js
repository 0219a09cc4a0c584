// Puzzles other than boards: each state is there, as what the stickers show or as the piece at each position.
const { net, sets, changes, written } = data;
const FACES = { U: "upper", D: "lower", F: "front", B: "back", L: "left", R: "right" };
const host = find("board");
let shapes = []; // the stickers, or the pieces of each set

class Steps {
  constructor(solution) {
    Object.assign(this, solution, { at: 0, hand: [], pieces: data.pieces, distances: solution.away, length: solution.steps.length });
  }

  // The first steps turn the whole puzzle back, which is no move.
  made(at) {
    return Math.max(0, at - this.turns);
  }

  seek(position) {
    this.at = Math.max(0, Math.min(this.length, position));
  }

  distance() {
    return this.away[this.at];
  }

  placed() {
    return this.pieces - this.distance();
  }
}

function drawn(tag, attributes, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

// What a sticker shows: a small letter for the colour of a face, a large one if its orientation does not count, * for
// how a piece is turned, - for nothing.
const faceOf = (shown) => (/[a-z]/i.test(shown) ? shown.toLowerCase().charCodeAt(0) - 97 : -1);

function paint(sticker, shown) {
  const face = faceOf(shown);
  if (face < 0) sticker.removeAttribute("fill");
  else sticker.setAttribute("fill", net.colours[face]);
  sticker.setAttribute("class", { "*": "marked", "-": "blank" }[shown] ?? (shown < "a" ? "pale" : ""));
}

function sheet() {
  const [width, height] = net.size;
  const stickers = net.stickers.map(([, path]) => drawn("path", { d: path }));
  return [drawn("svg", { viewBox: `-6 -6 ${width + 12} ${height + 12}`, "aria-hidden": "true" }, ...stickers), stickers];
}

// The middle of an outline, written as M0 0L1 0L1 1Z.
function middle(path) {
  const points = path.slice(1, -1).split("L").map((point) => point.split(" ").map(Number));
  return [0, 1].map((i) => points.reduce((sum, point) => sum + point[i], 0) / points.length);
}

// Dark letters on light colours, light ones on dark colours.
function ink(colour) {
  const [red, green, blue] = [1, 3, 5].map((i) => parseInt(colour.slice(i, i + 2), 16));
  return 0.3 * red + 0.59 * green + 0.11 * blue > 120 ? "#1b232a" : "#ffffff";
}

function picture(to, state) {
  const [svg, stickers] = sheet();
  stickers.forEach((sticker, i) => paint(sticker, state[i]));
  to.className = "net";
  to.replaceChildren(svg);
  to.setAttribute("aria-label", spoken(state));
}

// For each face, the letters of its stickers.
const spoken = (state) => net.faces.map((name, face) => {
  const own = [...state].filter((_, i) => net.stickers[i][0] === face);
  return `${name}: ${own.map((shown) => net.faces[faceOf(shown)] ?? (shown === "*" ? "mark" : "blank")).join(" ")}`;
}).join("; ");

const NET = {
  open({ states }) {
    const [svg, stickers] = sheet();
    const letters = net.stickers.map(([, path]) => {
      const [x, y] = middle(path);
      return drawn("text", { x, y, "font-size": net.letter });
    });
    const dots = letters.map((letter) => drawn("circle", { cx: letter.getAttribute("x"), cy: letter.getAttribute("y"), r: net.letter / 5 }));
    svg.append(...letters, ...dots);
    shapes = stickers.map((sticker, i) => [sticker, letters[i], dots[i]]);
    host.replaceChildren(svg);
    host.className = "stand net";
    picture(find("start"), states[0]);
    picture(find("goal"), states.at(-1));
  },

  show(state, changed) {
    const moved = new Set(changed);
    shapes.forEach(([sticker, letter, dot], i) => {
      paint(sticker, state[i]);
      const face = faceOf(state[i]);
      letter.textContent = net.faces[face] ?? "";
      for (const mark of [letter, dot]) {
        mark.setAttribute("fill", ink(net.colours[face] ?? "#ffffff"));
        mark.setAttribute("class", moved.has(i) ? "moved" : "");
      }
    });
    host.setAttribute("aria-label", `Stickers by face. ${spoken(state)}`);
  },

  legend(states) {
    const used = new Set(states.join(""));
    const swatch = (shown, text) => {
      const sticker = drawn("path", { d: "M1 1L19 1L19 19L1 19Z" });
      paint(sticker, shown);
      return element("li", {}, drawn("svg", { viewBox: "0 0 20 20", "aria-hidden": "true" }, sticker), text);
    };
    const colours = net.faces.map((name, face) => [String.fromCharCode(97 + face), `face ${name}`]);
    const all = [
      ...colours.filter(([shown]) => used.has(shown) || used.has(shown.toUpperCase())),
      ...[...used].filter((shown) => faceOf(shown) >= 0 && shown < "a").slice(-1).map((shown) => [shown, "pale: orientation does not count"]),
      ["*", "how a piece is turned"], ["-", "pieces that do not count, or look alike"],
    ];
    const items = all.filter(([shown]) => used.has(shown) || !"*-".includes(shown)).map(([shown, text]) => swatch(shown, text));
    return [...items, element("li", {}, "A dot: the last move moved this sticker.")];
  },
};

// A state as text: corners 1 3 2/0 1 2; edges 2 1, or the rows of a board: 1 2/3 0. Returns the number and the orientation
// at each position, by sets.
const read = (state) => sets[0].cols ? [state.split(/[ /]/).map((tile) => [Number(tile), 0])] : state.split("; ").map((text, set) => {
  const [pieces, turns] = text.slice(sets[set].name.length).trim().split("/").map((row) => row.trim().split(" ").map(Number));
  return pieces.map((piece, at) => [piece, turns?.[at] ?? 0]);
});

// The columns and rows of a set, which a picture may have, and where each position is.
function places({ count, at: drawnAt, cols: own }) {
  if (drawnAt) return [...[0, 1].map((axis) => Math.max(...drawnAt.map((point) => point[axis])) + 1), (at) => drawnAt[at]];
  const cols = own ?? Math.min(12, Math.ceil(count / Math.ceil(count / 12)));
  return [cols, Math.ceil(count / cols), (at) => [at % cols, Math.floor(at / cols)]];
}

// The edges and the vertices of a graph.
function edges(set) {
  const [cols, rows] = places(set);
  const middles = set.at.map(([x, y]) => [x + .5, y + .5]);
  const lines = set.edges.map(([a, b]) => drawn("path", { d: `M${middles[a]}L${middles[b]}` }));
  const rings = middles.map(([cx, cy]) => drawn("circle", { cx, cy, r: .46 }));
  return drawn("svg", { viewBox: `0 0 ${cols} ${rows}`, "aria-hidden": "true" }, ...lines, ...rings);
}

// What pieces of a set lie in.
function trayOf(set, wide, pieces) {
  const [cols, rows, at] = places(set);
  const slots = Array.from({ length: set.count }, (_, k) => {
    const slot = element("div", { class: "slot" }, `${set.edges ? k : k + 1}`);
    slot.style.transform = `translate(${at(k)[0] * 100}%, ${at(k)[1] * 100}%)`;
    return slot;
  });
  const tray = element("div", { class: set.at ? "tray ring" : set.cols ? "tray grid" : "tray" }, ...(set.edges ? [edges(set)] : []), ...slots, ...pieces);
  tray.classList.toggle("graph", Boolean(set.edges));
  for (const [name, value] of [["--cols", cols], ["--rows", rows], ["--wide", wide]]) tray.style.setProperty(name, value);
  return tray;
}

function label(piece, [number, turn], set) {
  piece.className = set.first === 0 && number === 0 ? "piece gap" : "piece";
  piece.style.setProperty("--hue", Math.round((330 * (number - set.first)) / Math.max(1, set.kinds - 1)));
  piece.firstChild.replaceChildren(`${number}`, ...(turn ? [element("small", {}, `+${turn}`)] : []));
}

const PIECES = {
  open({ states }) {
    const wide = Math.max(...sets.map((set) => places(set)[0]));
    shapes = sets.map((set) => {
      const [, , at] = places(set);
      return Array.from({ length: set.count }, (_, i) => {
        const piece = element("div", { class: "piece" }, element("span"));
        return { piece, x: at(i)[0], y: at(i)[1] };
      });
    });
    host.className = "stand sets";
    host.replaceChildren(...sets.map((set, i) => {
      const tray = trayOf(set, Math.max(wide, 6), shapes[i].map(({ piece }) => piece));
      return sets.length > 1 ? element("div", { class: "set" }, element("h2", {}, set.name), tray) : tray;
    }));
    for (const [id, state] of [["start", states[0]], ["goal", states.at(-1)]]) {
      find(id).className = sets[0].at ? "drawn" : "row-of-pieces";
      if (sets[0].cols) find(id).style = `display: grid; grid-template-columns: repeat(${sets[0].cols}, 24px)`;
      find(id).setAttribute("aria-label", state);
      const pieces = read(state).flatMap((row, i) => row.map((shown, k) => {
        const piece = element("div", {}, element("span"));
        label(piece, shown, sets[i]);
        if (sets[i].at) piece.style.transform = `translate(${sets[i].at[k].map((x) => `${x * 100}%`)})`;
        return piece;
      }));
      find(id).replaceChildren(...(sets[0].at ? [trayOf(sets[0], places(sets[0])[0], pieces)] : pieces));
    }
  },

  show(state) {
    const { at, steps, states } = walk;
    const [now, before, goal] = [state, states[Math.max(0, at - 1)], states.at(-1)].map(read);
    sets.forEach((set, i) => {
      // Which of the pieces is at each position, after the moves so far.
      let order = shapes[i].map((_, k) => k);
      let from = order;
      for (const step of steps.slice(0, at)) {
        from = changes[step]?.[i] ?? shapes[i].map((_, k) => k);
        order = from.map((k) => order[k]);
      }
      order.forEach((k, position) => {
        const { piece } = shapes[i][k];
        const { x, y } = shapes[i][position];
        const shown = now[i][position];
        label(piece, shown, set);
        piece.style.transform = `translate(${x * 100}%, ${y * 100}%)`;
        const turned = String(before[i][position]) !== String(shown);
        piece.classList.toggle("moved", at > 0 && (from[position] !== position || turned));
        piece.classList.toggle("home", String(goal[i][position]) === String(shown));
      });
    });
    host.setAttribute("aria-label", `The piece at each position. ${state}`);
  },

  legend(states) {
    const turned = !sets[0].cols && states.some((state) => state.includes("/"));
    return [
      sets[0].cols ? (sets[0].kinds < sets[0].count ? "A number is a colour: tiles with the same number look alike." : "A number is a tile.") : sets[0].edges ? "A number is a tile; the small number beside it is its vertex." : sets[0].at ? "Position 1 is at the top, the others follow clockwise." : "A number is a piece; the small number below it is its position.",
      ...(turned ? ["+1 is how far the piece is turned."] : []),
      "Filled: in place. Framed: changed by the last move.",
    ].map((text) => element("li", {}, text));
  },
};

// A move, a turn of a cube or a slide, in words.
function inWords(at) {
  const move = walk.steps[at - 1];
  if (sets[0].edges) {
    const [before] = read(walk.states[at - 1]);
    const ends = changes[move][0].flatMap((from, to) => (from === to ? [] : [to]));
    const [to, from] = before[ends[0]][0] === 0 ? ends : ends.reverse();
    return `${move} (tile ${before[from][0]} slides from vertex ${from} to vertex ${to})`;
  }
  const [, layer, face, wide, digit, back] = /^(\d*)([UDFBLR])(w?)(\d?)('?)$/.exec(move) ?? [];
  if (!face || net?.faces.length !== 6) return move;
  const what = wide ? `${layer || 2} layers of the ${FACES[face]} side` : layer ? `layer ${layer} of the ${FACES[face]} side` : `${FACES[face]} face`;
  const how = digit === "2" ? "half a turn" : back ? "counterclockwise" : "clockwise";
  return `${move} (${what}, ${how})`;
}

const view = net ? NET : PIECES;
find("letters").addEventListener("change", (event) => host.classList.toggle("lettered", event.target.checked));
find("lettered").hidden = !net;
host.setAttribute("role", "img");

start({
  keys: [],
  name: ({ label }) => (label ? `${data.name}: ${label}` : data.name),
  length: ({ steps, turns }) => plural(steps.length - turns, "move"),
  entry: (at) => [written[walk.steps[at - 1]] ?? walk.steps[at - 1], ""],
  saying: (at) => (at > walk.turns ? written[walk.steps[at - 1]] ?? inWords(at) : `Turn the whole puzzle back: ${walk.steps[at - 1]}`),
  notation: () => walk.notation,

  open(solution) {
    view.open(solution);
    const longest = Math.max(3, ...solution.steps.map((step) => step.length));
    find("moves").style.setProperty("--longest", longest);
    find("legend-list").replaceChildren(...view.legend(solution.states));
    host.classList.toggle("lettered", find("letters").checked);
    return new Steps(solution);
  },

  show() {
    view.show(walk.states[walk.at], walk.at ? changes[walk.steps[walk.at - 1]] : []);
  },
}, "puzzles");
