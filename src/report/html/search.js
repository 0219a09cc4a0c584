const find = (id) => document.getElementById(id);
const { search } = JSON.parse(find("data").textContent);
const counts = search.counts;
const last = counts.length - 1;
const largest = Math.max(...counts, 1);
const chart = find("chart");
const rows = document.querySelectorAll("tbody tr");
const number = (value) => value.toLocaleString("en-US");
const EDGE = { right: 10, top: 30, bottom: 42 };

let at = null; // the depth pointed at
let logarithmic = false;
let bottom = 0; // of the plot in pixels, and the maps from depths and counts to pixels
let x = null;
let y = null;

// The smallest of 1, 2, 5, 10, .. that divides a range into at most so many steps.
function step(range, most) {
  for (let decade = 1; ; decade *= 10) {
    for (const one of [1, 2, 5]) if (range / (one * decade) <= most) return one * decade;
  }
}

const superscript = (power) => `${power}`.replace(/\d/g, (digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit]);

function draw(paper) {
  const width = paper || chart.clientWidth;
  if (!width) return; // not laid out yet
  const height = paper ? 300 : chart.clientHeight;
  const right = width - EDGE.right;
  bottom = height - EDGE.bottom;
  const [unit, name] = largest >= 1e10 ? [1e9, "billions of states"] : largest >= 1e7 ? [1e6, "millions of states"] : [1, "states"];
  const jump = step(largest / unit, 6) * unit;
  // A single state stands above the axis of the logarithmic scale.
  const [low, high] = logarithmic ? [-0.35, Math.log10(largest) + 0.15] : [0, Math.ceil((largest * 1.04) / jump) * jump];
  y = (count) => bottom - ((logarithmic ? Math.log10(count) : count) - low) / (high - low) * (bottom - EDGE.top);

  const left = 16 + 7.5 * (logarithmic ? 3 : number(high / unit).length);
  const slot = (right - left) / counts.length;
  x = (depth) => left + (depth + 0.5) * slot;

  const parts = [];
  const tick = (value, text) => parts.push(
    `<line class="grid" x1="${left}" x2="${right}" y1="${y(value)}" y2="${y(value)}"/>` +
    `<text x="${left - 8}" y="${y(value) + 4}" text-anchor="end">${text}</text>`);
  if (logarithmic) {
    const powers = step(Math.max(high, 1), 8);
    for (let power = 0; power <= high; power += powers) tick(10 ** power, `10${superscript(power)}`);
  } else {
    for (let value = 0; value <= high; value += jump) tick(value, number(value / unit));
  }
  const every = step(counts.length, width / 48);
  for (let depth = 0; depth <= last; depth += every) {
    parts.push(`<text x="${x(depth)}" y="${bottom + 18}" text-anchor="middle">${depth}</text>`);
  }
  parts.push(
    `<text x="${(left + right) / 2}" y="${height - 5}" text-anchor="middle">depth (moves)</text>`,
    `<text x="0" y="12">${logarithmic ? "states" : name}</text>`);

  const filled = [...counts.keys()].filter((depth) => counts[depth]);
  if (logarithmic) {
    const line = filled.map((depth) => `${x(depth)} ${y(counts[depth])}`).join("L");
    parts.push(`<path class="area" d="M${x(filled[0])} ${bottom}L${line}L${x(filled.at(-1))} ${bottom}Z"/><path class="curve" d="M${line}"/>`);
    const radius = Math.min(3.2, Math.max(1.4, slot / 3));
    for (const depth of filled) parts.push(`<circle class="dot" data-depth="${depth}" cx="${x(depth)}" cy="${y(counts[depth])}" r="${radius}"/>`);
  } else {
    const bar = Math.max(slot * 0.82, slot - 3);
    for (const depth of filled) {
      const top = Math.min(y(counts[depth]), bottom - 1); // any state at all shows
      parts.push(`<rect class="bar" data-depth="${depth}" x="${x(depth) - bar / 2}" y="${top}" width="${bar}" height="${bottom - top}" rx="${Math.min(2, bar / 4)}"/>`);
    }
    const mean = x(search.mean_depth);
    const side = mean > right - 80 ? ["end", -6] : ["start", 6];
    parts.push(
      `<line class="mean" x1="${mean}" x2="${mean}" y1="${EDGE.top - 18}" y2="${bottom}"/>`,
      `<text class="mean-text" x="${mean + side[1]}" y="${EDGE.top - 10}" text-anchor="${side[0]}">mean ${search.mean_depth.toFixed(2)}</text>`);
  }
  parts.push(`<line class="axis" x1="${left}" x2="${right}" y1="${bottom}" y2="${bottom}"/><g id="mark"></g>`);
  chart.innerHTML = `<svg viewBox="0 0 ${width} ${height}" aria-hidden="true">${parts.join("")}</svg>`;
  point(at);
}

// Points at a depth: in the chart, in words, and in the table.
function point(depth) {
  rows[at]?.classList.remove("at");
  at = depth;
  if (at === null) {
    find("mark").innerHTML = "";
    chart.setAttribute("aria-valuenow", 0);
    return;
  }
  rows[at].classList.add("at");
  const top = Math.min(counts[at] ? y(counts[at]) : bottom, bottom - 1);
  find("mark").innerHTML = `<line class="guide" x1="${x(at)}" x2="${x(at)}" y1="${EDGE.top}" y2="${bottom}"/><circle class="at" cx="${x(at)}" cy="${top}" r="4.5"/>`;
  const [, , share, cumulative] = rows[at].cells;
  const states = `${number(counts[at])} ${counts[at] === 1 ? "state" : "states"}`;
  find("readout").innerHTML = `<b>Depth ${at}: ${states}</b>, ${share.textContent}; up to here ${cumulative.textContent}`;
  chart.setAttribute("aria-valuenow", at);
  chart.setAttribute("aria-valuetext", `depth ${at}: ${states}`);
}

chart.setAttribute("aria-valuemax", last);
find("scale").addEventListener("change", (event) => {
  logarithmic = event.target.value === "log";
  draw();
});
for (const kind of ["pointermove", "pointerdown"]) {
  chart.addEventListener(kind, (event) => {
    const inside = event.clientX - chart.getBoundingClientRect().left - x(-0.5);
    point(Math.max(0, Math.min(last, Math.floor(inside / (x(1) - x(0))))));
  });
}
chart.addEventListener("keydown", (event) => {
  const to = { ArrowLeft: (at ?? 1) - 1, ArrowRight: (at ?? -1) + 1, Home: 0, End: last }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  point(Math.max(0, Math.min(last, to)));
});
new ResizeObserver(() => draw()).observe(chart);
// On paper the chart keeps the size of its letters, and every board is there.
addEventListener("beforeprint", () => {
  for (const more of document.querySelectorAll("details")) more.open = true;
  draw(680);
});
addEventListener("afterprint", () => draw());
