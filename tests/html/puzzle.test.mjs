// Solutions of cubes, other solids, parts of them, rings and pieces.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { PHONE, launch, picture, visit } from "./browser.mjs";

let browser;
before(async () => { browser = await launch(); });
after(() => browser.close());

const text = (page, id) => page.locator(`#${id}`).textContent();
const data = (page) => page.evaluate(() => JSON.parse(document.getElementById("data").textContent));
const key = (page, name) => page.keyboard.press(name);

// The colours of the stickers as they are seen, by faces; a sticker without a colour is named after its kind.
const faces = (page) => page.evaluate(() => {
  const { net } = JSON.parse(document.getElementById("data").textContent);
  const all = net.faces.map(() => []);
  document.querySelectorAll("#board path").forEach((sticker, i) => {
    const [face, outline] = net.stickers[i];
    if (sticker.getAttribute("d") !== outline) throw new Error(`sticker ${i} has another outline`);
    all[face].push(sticker.getAttribute("fill") ?? sticker.getAttribute("class"));
  });
  return all;
});

// The numbers of the pieces of each set as they lie on the screen: in rows, or around from the top.
const rows = async (page) => {
  await page.waitForFunction(() => document.getAnimations().every((a) => a.playState === "finished"));
  return page.evaluate(() => [...document.querySelectorAll("#board .tray")].map((tray) => {
    const box = tray.getBoundingClientRect();
    const [x, y] = [box.left + box.width / 2, box.top + box.height / 2];
    const around = ({ left, top, width, height }) => (Math.atan2(left + width / 2 - x, y - top - height / 2) + 2 * Math.PI + 0.01) % (2 * Math.PI);
    const order = (box) => (tray.classList.contains("ring") ? around(box) : Math.round(box.top) * 10000 + box.left);
    const pieces = [...tray.querySelectorAll(".piece")].map((piece) => [order(piece.getBoundingClientRect()), piece.textContent]);
    return pieces.sort(([a], [b]) => a - b).map(([, number]) => number);
  }));
};

for (const [name, moves, turns] of [["cube", 5, 1], ["wide", 3, 1], ["cuboid", 4, 0], ["skewb", 3, 0], ["megaminx", 2, 2], ["octahedron", 3, 0]]) {
  test(`the stickers of ${name} are solved at the end, and not before`, () => visit(browser, `${name}.html`, {}, async (page) => {
    const { net } = await data(page);
    assert.equal(await text(page, "length"), `${moves}`);
    const buttons = (await page.locator("#moves button").allTextContents()).map((shown) => shown.trim());
    assert.equal(buttons.length, moves + turns + 1);
    assert.equal(buttons.slice(1).join(" "), await text(page, "notation"), "the buttons and the line of moves say the same");
    const start = await faces(page);
    assert.ok(start.some((own) => new Set(own).size > 1));
    await picture(page, `puzzle-${name}`);
    for (let step = 1; step < moves + turns; step++) {
      await key(page, "ArrowRight");
      assert.equal(await page.locator("[aria-current]").getAttribute("data-at"), `${step}`);
      assert.ok((await faces(page)).some((own) => new Set(own).size > 1), `step ${step}`);
    }
    await key(page, "ArrowRight");
    (await faces(page)).forEach((own, face) => assert.deepEqual(new Set(own), new Set([net.colours[face]])));
    assert.match(await text(page, "caption"), /Solved!$/);
    assert.equal(await text(page, "placed"), await text(page, "pieces"));
    assert.equal(await page.locator("#forward").isDisabled(), true);
    await key(page, "Home");
    assert.deepEqual(await faces(page), start);
  }));
}

test("a turn of the whole cube is no move, and moves no piece", () => visit(browser, "cube.html", {}, async (page) => {
  const centres = async () => (await faces(page)).map((own) => own[4]);
  const { net, solutions: [{ notation }] } = await data(page);
  assert.notDeepEqual(await centres(), net.colours);
  await key(page, "ArrowRight");
  assert.deepEqual(await centres(), net.colours);
  assert.equal(await text(page, "made"), "0");
  assert.equal(await text(page, "caption"), "Turn the whole puzzle back: x'");
  await key(page, "ArrowRight");
  assert.equal(await text(page, "made"), "1");
  assert.equal(await text(page, "caption"), "Move 1: D' (lower face, counterclockwise)");
  assert.equal(await page.locator("#board circle.moved").count(), 20, "a turn of a face moves twenty stickers");
  assert.equal(await text(page, "notation"), notation);
}));

test("buttons, letters and solutions", () => visit(browser, "cube.html#solution=1&move=2", {}, async (page) => {
  const two = await faces(page);
  await page.locator("#forward").click();
  await page.locator("#backward").click();
  assert.deepEqual(await faces(page), two);
  await page.locator("#last").click();
  await page.locator('#moves [data-at="2"]').click();
  assert.deepEqual(await faces(page), two);
  await page.getByRole("checkbox", { name: "Letters on the stickers" }).check();
  await picture(page, "puzzle-letters");
  assert.equal(await page.locator("#board text").first().isVisible(), true);
  await page.locator("#next").click();
  assert.match(await text(page, "headline"), /^Already solved/);
  await page.locator("#choice").selectOption("2");
  assert.equal(await text(page, "name"), "3x3x3: R2 U2");
  await page.locator("#speed").selectOption("16");
  await page.locator("#play").click();
  await page.waitForFunction(() => document.getElementById("caption").textContent.endsWith("Solved!"));
  assert.equal(await page.locator(".refused code, .refused .pair").count(), 1);
}));

test("pieces that are left out are grey, and those that do not count at the end look solved", async () => {
  await visit(browser, "part.html", {}, async (page) => {
    await key(page, "End");
    const { net } = await data(page);
    const own = await faces(page);
    assert.equal(own.flat().filter((shown) => shown === "blank").length, 16);
    own.forEach((shown, face) => assert.deepEqual(new Set(shown.filter((one) => one !== "blank")), new Set([net.colours[face]])));
    assert.match(await text(page, "legend-list"), /pieces that do not count, or look alike/);
  });
  await visit(browser, "domino.html", {}, async (page) => {
    await key(page, "End");
    const { net } = await data(page);
    const [up, down] = await faces(page);
    assert.deepEqual(new Set(up), new Set([net.colours[0]]), "both colours are one");
    assert.equal(down.filter((shown) => shown === net.colours[0]).length, 8);
    await picture(page, "puzzle-domino");
  });
  await visit(browser, "flat.html", {}, async (page) => {
    assert.equal(await page.locator("#board path.pale").count(), 24);
    await picture(page, "puzzle-flat");
  });
});

test("beads go around a ring", () => visit(browser, "ring.html", {}, async (page) => {
  const solved = ["1", "2", "3", "4", "5", "6", "7", "8", "9"];
  assert.notDeepEqual(await rows(page), [solved]);
  await picture(page, "puzzle-ring");
  await key(page, "End");
  assert.deepEqual(await rows(page), [solved]);
  await key(page, "ArrowLeft");
  assert.deepEqual(await rows(page), [["2", "3", "4", "5", "6", "7", "8", "9", "1"]]);
}));

test("pieces lie where they are, with what a move changed framed", () => visit(browser, "gear.html", { ...PHONE, colorScheme: "dark" }, async (page) => {
  const { sets, solutions: [{ states, steps }] } = await data(page);
  const numbers = (state) => state.split("; ").map((own, i) => {
    const [pieces, turns] = own.slice(sets[i].name.length + 1).split("/").map((row) => row.split(" "));
    return pieces.map((piece, at) => (turns && turns[at] !== "0" ? `${piece}+${turns[at]}` : piece));
  });
  for (let at = 0; at <= steps.length; at++) {
    await page.locator("#slider").fill(`${at}`);
    assert.deepEqual(await rows(page), numbers(states[at]), `after ${at} moves`);
    assert.equal((await page.locator("#board .moved").count()) > 0, at > 0);
    await picture(page, `puzzle-gear-${at}`);
  }
  assert.equal(await page.locator("#board .piece:not(.home)").count(), 0);
}));

test("tiles of a graph lie on its vertices, which are numbered as moves name them", () => visit(browser, "graph.html", {}, async (page) => {
  // The number of the tile on each vertex as it is seen, and the ends of the lines.
  const seen = () => page.evaluate(() => {
    const middle = (one) => { const { left, top, width, height } = one.getBoundingClientRect(); return [left + width / 2, top + height / 2]; };
    const near = (all, [x, y]) => all.findIndex((one) => Math.hypot(middle(one)[0] - x, middle(one)[1] - y) < 3);
    const [vertices, pieces, lines] = [".ring > svg circle", ".piece:not(.gap) span", ".ring > svg path"].map((which) => [...document.querySelectorAll(`#board ${which}`)]);
    const ends = lines.map((line) => [0, line.getTotalLength()].map((at) => {
      const { x, y } = line.getPointAtLength(at).matrixTransform(line.getScreenCTM());
      return near(vertices, [x, y]);
    }).join("-"));
    return { tiles: vertices.map((vertex) => pieces[near(pieces, middle(vertex))]?.textContent ?? ""), ends };
  });
  const still = () => page.waitForFunction(() => document.getAnimations().every((a) => a.playState === "finished"));
  assert.deepEqual(await seen(), { tiles: ["1", "", "2", "3"], ends: ["0-1", "0-2", "1-2", "2-3"] });
  assert.deepEqual(await page.locator("#board .slot").allTextContents(), ["0", "1", "2", "3"]);
  await picture(page, "puzzle-graph");
  await key(page, "End");
  await still();
  assert.deepEqual((await seen()).tiles, ["", "1", "2", "3"]);
  assert.equal(await text(page, "caption"), "Move 1: 1-0 (tile 1 slides from vertex 0 to vertex 1). Solved!");
}));

test("a board of colours has rows, and moves that are written as those of boards", () => visit(browser, "colours.html", {}, async (page) => {
  assert.deepEqual(await rows(page), [["1", "1", "2", "0", "2", "2"]]);
  const boxes = await page.locator("#start > div").evaluateAll((all) => all.map((one) => one.getBoundingClientRect().top));
  assert.equal(new Set(boxes).size, 2, "the small board has two rows");
  assert.match(await text(page, "legend-list"), /colour/);
  await key(page, "ArrowRight");
  assert.equal(await text(page, "caption"), "Move 1: L");
  await picture(page, "puzzle-colours");
  await key(page, "End");
  assert.equal(await text(page, "caption"), "Move 2: L. Solved!");
  assert.deepEqual(await rows(page), [["1", "1", "2", "2", "2", "0"]]);
}));

test("printed, and on a phone in the dark", async () => {
  await visit(browser, "skewb.html", {}, async (page) => {
    await page.emulateMedia({ media: "print" });
    assert.equal(await page.locator(".transport").isVisible(), false);
    await picture(page, "puzzle-print");
  });
  for (const name of ["cube", "part", "megaminx"]) {
    await visit(browser, `${name}.html`, { ...PHONE, colorScheme: "dark" }, async (page) => {
      await page.locator("#forward").tap();
      await picture(page, `puzzle-${name}-phone`);
    });
  }
});

test("without scripts, the start and the moves are there", () => visit(browser, "cube.html", { javaScriptEnabled: false }, async (page) => {
  assert.equal(await page.locator(".pair svg path").count(), 4 * 54, "three solutions, and a state that has none");
  assert.match(await page.locator(".pairs").first().textContent(), /x' D' L2 F U' R'/);
}));
