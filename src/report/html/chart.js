const find = (id) => document.getElementById(id);
const number = (value) => value.toLocaleString("en-US");
const EDGE = { right: 10, top: 30, bottom: 42 };

// The smallest of 1, 2, 5, 10, .. that divides a range into at most so many steps.
function step(range, most) {
  for (let decade = 1; ; decade *= 10) {
    for (const one of [1, 2, 5]) if (range / (one * decade) <= most) return one * decade;
  }
}

const superscript = (power) => `${power}`.replace(/\d/g, (digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit]);

// A distribution: bars, or a curve on a logarithmic scale, and maybe another one to compare with as a line. Pointer and
// arrow keys point at a depth; `told` hears of each.
class Chart {
  constructor(host, told) {
    Object.assign(this, { host, told, counts: [1], mean: 0, beside: [], at: null, logarithmic: false });
    for (const kind of ["pointermove", "pointerdown"]) {
      host.addEventListener(kind, (event) => {
        const inside = event.clientX - host.getBoundingClientRect().left - this.x(-0.5);
        this.point(Math.floor(inside / (this.x(1) - this.x(0))));
      });
    }
    host.addEventListener("keydown", (event) => {
      const to = { ArrowLeft: (this.at ?? 1) - 1, ArrowRight: (this.at ?? -1) + 1, Home: 0, End: this.last }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      this.point(to);
    });
    new ResizeObserver(() => this.draw()).observe(host);
  }

  show(counts, mean, beside = []) {
    Object.assign(this, { counts, mean, beside, at: null, last: counts.length - 1 });
    this.host.setAttribute("aria-valuemax", this.last);
    this.draw();
  }

  scale(logarithmic) {
    this.logarithmic = logarithmic;
    this.draw();
  }

  // Draws for the screen, or for paper of a width, where the chart keeps the size of its letters.
  draw(paper) {
    const { counts, beside, logarithmic, host } = this;
    const width = paper || host.clientWidth;
    if (!width) return; // not laid out yet
    const height = paper ? 300 : host.clientHeight;
    const right = width - EDGE.right;
    const bottom = height - EDGE.bottom;
    const largest = Math.max(...counts, ...beside, 1);
    const depths = Math.max(counts.length, beside.length);
    const [unit, name] = largest >= 1e10 ? [1e9, "billions of states"] : largest >= 1e7 ? [1e6, "millions of states"] : [1, "states"];
    const jump = step(largest / unit, 6) * unit;
    // A single state stands above the axis of the logarithmic scale.
    const [low, high] = logarithmic ? [-0.35, Math.log10(largest) + 0.15] : [0, Math.ceil((largest * 1.04) / jump) * jump];
    const y = (count) => bottom - ((logarithmic ? Math.log10(count) : count) - low) / (high - low) * (bottom - EDGE.top);

    const left = 16 + 7.5 * (logarithmic ? 3 : number(high / unit).length);
    const slot = (right - left) / depths;
    const x = (depth) => left + (depth + 0.5) * slot;
    Object.assign(this, { bottom, x, y });

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
    const every = step(depths, width / 48);
    for (let depth = 0; depth < depths; depth += every) {
      parts.push(`<text x="${x(depth)}" y="${bottom + 18}" text-anchor="middle">${depth}</text>`);
    }
    parts.push(
      `<text x="${(left + right) / 2}" y="${height - 5}" text-anchor="middle">depth (moves)</text>`,
      `<text x="0" y="12">${logarithmic ? "states" : name}</text>`);

    const filled = (of) => [...of.keys()].filter((depth) => of[depth]);
    const line = (of) => filled(of).map((depth) => `${x(depth)} ${y(of[depth])}`).join("L");
    const drawn = filled(counts);
    if (logarithmic) {
      parts.push(`<path class="area" d="M${x(drawn[0])} ${bottom}L${line(counts)}L${x(drawn.at(-1))} ${bottom}Z"/><path class="curve" d="M${line(counts)}"/>`);
      const radius = Math.min(3.2, Math.max(1.4, slot / 3));
      for (const depth of drawn) parts.push(`<circle class="dot" data-depth="${depth}" cx="${x(depth)}" cy="${y(counts[depth])}" r="${radius}"/>`);
    } else {
      const bar = Math.max(slot * 0.82, slot - 3);
      for (const depth of drawn) {
        const top = Math.min(y(counts[depth]), bottom - 1); // any state at all shows
        parts.push(`<rect class="bar" data-depth="${depth}" x="${x(depth) - bar / 2}" y="${top}" width="${bar}" height="${bottom - top}" rx="${Math.min(2, bar / 4)}"/>`);
      }
      const mean = x(this.mean);
      const side = mean > right - 80 ? ["end", -6] : ["start", 6];
      parts.push(
        `<line class="mean" x1="${mean}" x2="${mean}" y1="${EDGE.top - 18}" y2="${bottom}"/>`,
        `<text class="mean-text" x="${mean + side[1]}" y="${EDGE.top - 10}" text-anchor="${side[0]}">mean ${this.mean.toFixed(2)}</text>`);
    }
    if (beside.length) parts.push(`<path class="beside" d="M${line(beside)}"/>`);
    parts.push(`<line class="axis" x1="${left}" x2="${right}" y1="${bottom}" y2="${bottom}"/><g class="mark"></g>`);
    host.innerHTML = `<svg viewBox="0 0 ${width} ${height}" aria-hidden="true">${parts.join("")}</svg>`;
    this.point(this.at);
  }

  // Points at a depth, null for none: in the chart, and in words for those who cannot see it.
  point(depth) {
    const { counts, host } = this;
    const mark = host.querySelector(".mark");
    this.at = depth === null ? null : Math.max(0, Math.min(this.last, depth));
    if (this.at === null) {
      mark.innerHTML = "";
      host.setAttribute("aria-valuenow", 0);
      host.setAttribute("aria-valuetext", "no depth chosen");
    } else {
      const count = counts[this.at];
      const [x, top] = [this.x(this.at), Math.min(count ? this.y(count) : this.bottom, this.bottom - 1)];
      mark.innerHTML = `<line class="guide" x1="${x}" x2="${x}" y1="${EDGE.top}" y2="${this.bottom}"/><circle class="at" cx="${x}" cy="${top}" r="4.5"/>`;
      host.setAttribute("aria-valuenow", this.at);
      host.setAttribute("aria-valuetext", `depth ${this.at}: ${states(count)}`);
    }
    this.told(this.at);
  }
}

const states = (count) => `${number(count)} ${count === 1 ? "state" : "states"}`;
