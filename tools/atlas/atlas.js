const data = JSON.parse(find("data").textContent);
const SHOWN = 12;
const MOVES = { stm: "single-tile metric", mtm: "multi-tile metric" };
let search;

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

// A source with a link to it: a sequence of the OEIS, or a repository at a commit.
function source(text) {
  const [, sequence] = text.match(/^OEIS (A\d+)$/) ?? [];
  const [, repository, commit] = text.match(/^([\w.-]+\/[\w.-]+)@([0-9a-f]+)$/) ?? [];
  const to = sequence ? `https://oeis.org/${sequence}` : repository && `https://github.com/${repository}/tree/${commit}`;
  return to ? element("a", { href: to }, text) : text;
}

const far = (of) => of.counts.length - 1;
const isBoard = (of) => of.rows !== undefined;
const cell = ({ blank, cols }) => `row ${Math.floor(blank / cols) + 1}, column ${(blank % cols) + 1}`;
const boardsOf = (puzzle, metric) => data.searches.filter((of) => of.puzzle === puzzle && of.metric === metric);

// The search whose goal is a board's mirror image with the blank in a cell, if there is one.
function goalAt(puzzle, metric, at) {
  return boardsOf(puzzle, metric).find(({ rows, cols, blank }) => {
    const images = (row, col) => [row, rows - 1 - row].flatMap((r) => [col, cols - 1 - col].map((c) => r * cols + c));
    const [row, col] = [Math.floor(at / cols), at % cols];
    // Squares can be turned by a quarter as well.
    return [...images(row, col), ...(rows === cols ? images(col, row) : [])].includes(blank);
  });
}

const twin = () => (isBoard(search) ? goalAt(search.puzzle, search.metric === "stm" ? "mtm" : "stm", search.blank) : undefined);

const chart = new Chart(find("chart"), (depth) => {
  if (!search) return;
  if (depth === null) {
    find("readout").textContent = "Point at a depth, or use the arrow keys.";
    return;
  }
  const total = search.counts.reduce((a, b) => a + b);
  const share = (100 * search.counts[depth]) / total;
  find("readout").replaceChildren(element("b", {}, `Depth ${depth}: ${states(search.counts[depth])}`), `, ${share.toPrecision(3)} % of all`);
});

function draw() {
  const other = twin();
  const compared = find("beside").checked && other;
  chart.show(search.counts, search.mean, compared ? other.counts : []);
}

function show(of) {
  search = of;
  const total = of.counts.reduce((a, b) => a + b);
  const last = of.counts.at(-1);
  find("puzzle").value = of.puzzle;
  for (const host of document.querySelectorAll(".board-only")) host.hidden = !isBoard(of);
  find("title").textContent = document.title = `${of.puzzle}: God's number ${far(of)}`;
  find("what").textContent = isBoard(of) ? `Blank of the goal in ${cell(of)}; ${MOVES[of.metric]}` : of.group;
  const cited = of.cite.flatMap((text, i) => [i ? "; " : `All ${of.counts.length} levels agree with `, source(text)]);
  find("known").replaceChildren(...(cited.length ? cited : [of.known ?? "Not found published elsewhere"]));
  find("known").classList.toggle("good", of.cite.length > 0);
  find("states").textContent = number(total);
  find("diameter").textContent = far(of);
  find("antipodes").textContent = number(last);
  find("mean").textContent = of.mean.toFixed(4);
  if (isBoard(of)) {
    find("metric").querySelector(`[value=${of.metric}]`).checked = true;
    pick(of);
    const other = twin();
    find("beside").disabled = !other;
    find("beside-name").textContent = other ? `Compare with the ${MOVES[other.metric]} (dotted, at most ${far(other)} moves)` : "The other metric is not computed";
  }
  draw();
  gallery(of, last);
  compare(of);
  find("checks").replaceChildren(
    element("li", {}, `The levels add up to all ${number(total)} states.`),
    ...of.confirmed.map(([how, equal]) => element("li", {}, `Repeated by ${how}: ${equal} equal.`)),
    ...of.cite.map((text) => element("li", {}, "Every level agrees with ", source(text), ".")));
  find("engine").textContent = `${of.engine}, ${of.seconds.toPrecision(3)} s, ${of.cpu}`;
  find("command").textContent = of.command;
  find("file").textContent = `${of.name}.json`;
  find("file").href = `${of.name}.json`;
  find("bfile").href = `bfiles/${of.name}.txt`;
  if (location.hash.slice(1) !== of.name) history.replaceState(null, "", `#${of.name}`);
}

// The board whose cells choose the goal's blank.
function pick(of) {
  const host = find("blank");
  host.style.setProperty("--cols", of.cols);
  const focused = host.contains(document.activeElement);
  const cells = Array.from({ length: of.rows * of.cols }, (_, at) => {
    const goal = goalAt(of.puzzle, of.metric, at);
    const made = element("button", { type: "button", "aria-pressed": at === of.blank, tabindex: at === of.blank ? 0 : -1 }, goal ? `${far(goal)}` : "–");
    made.setAttribute("aria-label", `row ${Math.floor(at / of.cols) + 1}, column ${(at % of.cols) + 1}: ${goal ? `${far(goal)} moves` : "not computed"}${goal === of && at !== of.blank ? ", the same by symmetry" : ""}`);
    made.classList.toggle("same", goal === of);
    made.disabled = !goal;
    made.addEventListener("click", () => show(goal));
    return made;
  });
  host.replaceChildren(...cells);
  if (focused) cells[of.blank].focus();
}

function miniature(board, cols) {
  const tiles = board.split(/[ /]/);
  const spans = tiles.map((tile) => element("span", tile === "0" ? { class: "gap" } : {}, tile === "0" ? "" : tile));
  return element("div", { class: "mini", style: `--cols:${cols};--fit:40` }, ...spans);
}

function gallery(of, last) {
  const host = find("gallery");
  const [one, many] = isBoard(of) ? ["board", "boards"] : ["state", "states"];
  find("last-title").textContent = `${number(last)} ${last === 1 ? "antipode" : "antipodes"} at depth ${far(of)}`;
  const plays = of.solutions.length ? " Open one to watch a shortest solution." : "";
  find("last-says").textContent = of.last.length ? `No ${one} is farther from the goal ${of.goal}.${plays}` : `The search did not keep its farthest ${many}.`;
  host.classList.toggle("words", !isBoard(of));
  host.style.setProperty("--cols", of.cols ?? 1);
  const shown = of.last.map((board, index) => {
    if (!isBoard(of)) return element("code", {}, board);
    const picture = miniature(board, of.cols);
    if (!of.solutions[index]) {
      picture.setAttribute("role", "img");
      picture.setAttribute("aria-label", board);
      return picture;
    }
    const made = element("button", { type: "button", "aria-label": `Solve ${board}` }, picture);
    made.addEventListener("click", () => play(of, index));
    return made;
  });
  host.replaceChildren(...shown.slice(0, SHOWN));
  const more = find("more");
  more.hidden = shown.length <= SHOWN;
  more.textContent = `${shown.length - SHOWN} more`;
  more.onclick = () => { host.append(...shown.slice(SHOWN)); more.hidden = true; };
  const left = last - of.last.length;
  find("left-out").hidden = !left || !of.last.length;
  find("left-out").textContent = `${number(left)} more are not shown here; ${of.name}.json lists up to 1,000.`;
}

// Makes the headings of a table sort its rows: first upwards, then downwards, what is missing always last. Words come in the
// order of the alphabet, numbers, also within words, by their value.
const alphabet = new Intl.Collator("en", { numeric: true });
function sortable(table) {
  const heads = [...table.tHead.rows[0].cells];
  for (const [at, head] of heads.entries()) {
    const button = element("button", { type: "button" }, head.textContent);
    button.addEventListener("click", () => sort(table, at, head.getAttribute("aria-sort") === "ascending"));
    head.replaceChildren(button);
  }
}

function sort(table, at, down) {
  const heads = [...table.tHead.rows[0].cells];
  for (const head of heads) head.removeAttribute("aria-sort");
  heads[at].setAttribute("aria-sort", down ? "descending" : "ascending");
  const rows = [...table.tBodies[0].rows].map((row) => [row.cells[at].textContent.replaceAll(",", ""), row]);
  const missing = (text) => text === "" || text === "–";
  rows.sort(([a], [b]) => missing(a) - missing(b) || alphabet.compare(a, b) * (down ? -1 : 1));
  table.tBodies[0].append(...rows.map(([, row]) => row));
}

// All goals of a board in both metrics, or all sizes of a family.
function compare(of) {
  const cells = (heads, row) => row.map((text, i) => element(heads ? "th" : "td", heads ? { scope: "col" } : {}, i || heads ? `${text}` : text));
  const link = (to, text) => element("a", { href: `#${to.name}` }, text);
  let head;
  let rows;
  if (isBoard(of)) {
    find("compare-title").textContent = `${of.puzzle}: goals and metrics`;
    head = ["Blank of the goal", "Single-tile", "antipodes", "mean", "Multi-tile", "antipodes", "mean", "ratio of means"];
    rows = boardsOf(of.puzzle, "stm").map((stm) => {
      const mtm = goalAt(of.puzzle, "mtm", stm.blank);
      const figures = (goal) => (goal ? [far(goal), number(goal.counts.at(-1)), goal.mean.toFixed(3)] : ["–", "–", "–"]);
      const own = of === stm || of === mtm;
      const to = of.metric === "mtm" && mtm ? mtm : stm;
      return [own, [link(to, cell(stm)), ...figures(stm), ...figures(mtm), mtm ? (stm.mean / mtm.mean).toFixed(3) : "–"]];
    });
  } else {
    const family = data.searches.filter(({ group }) => group === of.group);
    find("compare-title").textContent = of.group;
    head = ["Puzzle", "States", "God's number", "Antipodes", "Mean depth", "Widest level"];
    rows = family.map((one) => [one === of, [link(one, one.puzzle), number(one.counts.reduce((a, b) => a + b)), far(one),
      number(one.counts.at(-1)), one.mean.toFixed(3), number(Math.max(...one.counts))]]);
  }
  const table = find("compare").parentElement;
  const sorted = [...(table.tHead.rows[0]?.cells ?? [])];
  const by = sorted.findIndex((one) => one.hasAttribute("aria-sort"));
  // Another search of the same kind keeps the order.
  const keeps = by >= 0 && sorted.length === head.length;
  const down = keeps && sorted[by].getAttribute("aria-sort") === "descending";
  find("compare-head").replaceChildren(element("tr", {}, ...cells(true, head)));
  find("compare").replaceChildren(...rows.map(([own, row]) => element("tr", own ? { class: "at" } : {}, ...cells(false, row))));
  sortable(table);
  if (keeps) sort(table, by, down);
}

// The program's own player, as a page in a frame.
function play(of, index) {
  const numbers = (board) => board.split(/[ /]/).map(Number);
  const solution = { label: `${of.puzzle}, antipode ${index + 1}`, cols: of.cols, start: numbers(of.last[index]), goal: numbers(of.goal), moves: of.solutions[index], optimal: true };
  if (of.metric === "mtm") solution.length = far(of);
  const text = JSON.stringify({ style: "tile", version: data.version, solutions: [solution] }).replaceAll("<", "\\u003c");
  find("player-says").textContent = `${of.puzzle}, ${MOVES[of.metric]}`;
  find("frame").srcdoc = data.player.replace("{{solution}}", () => text);
  find("player").showModal();
}

function recall() {
  const named = data.searches.find(({ name }) => name === decodeURIComponent(location.hash.slice(1)));
  show(named ?? search ?? data.searches.find(({ name }) => name === "3x3"));
}

for (const group of new Set(data.searches.map((of) => of.group))) {
  const puzzles = new Set(data.searches.filter((of) => of.group === group).map((of) => of.puzzle));
  find("puzzle").append(element("optgroup", { label: group }, ...[...puzzles].map((puzzle) => new Option(puzzle, puzzle))));
}
find("puzzle").addEventListener("change", ({ target }) => {
  const metric = search.metric ?? "stm";
  show(boardsOf(target.value, metric)[0] ?? data.searches.find(({ puzzle }) => puzzle === target.value));
});
find("metric").addEventListener("change", ({ target }) => {
  const other = goalAt(search.puzzle, target.value, search.blank) ?? boardsOf(search.puzzle, target.value)[0];
  show(other ?? search);
});
find("blank").addEventListener("keydown", (event) => {
  const by = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -search.cols, ArrowDown: search.cols }[event.key];
  const to = by && find("blank").children[[...find("blank").children].indexOf(document.activeElement) + by];
  if (!by) return;
  event.preventDefault();
  if (to && !to.disabled) to.focus();
});
find("scale").addEventListener("change", ({ target }) => chart.scale(target.value === "log"));
find("beside").addEventListener("change", draw);
find("close").addEventListener("click", () => find("player").close());
find("player").addEventListener("close", () => { find("frame").srcdoc = ""; });
addEventListener("hashchange", recall);
addEventListener("beforeprint", () => chart.draw(680));
addEventListener("afterprint", () => chart.draw());
sortable(find("all").querySelector("table"));
// Who comes without a search in mind sees them all.
find("all").open = !location.hash;
recall();
