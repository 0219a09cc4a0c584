import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { PHONE, launch, picture, visit } from "./browser.mjs";

let browser;
before(async () => { browser = await launch(); });
after(() => browser.close());

const text = (page, id) => page.locator(`#${id}`).textContent();
const at = async (page) => Number(await page.locator("#slider").inputValue());
const tile = (page, number) => page.locator(`.tile[data-tile="${number}"]`);
const data = (page) => page.evaluate(() => JSON.parse(document.getElementById("data").textContent));

// The board as it is seen: where the tiles lie on the screen once they have come to rest.
async function board(page) {
  await page.waitForFunction(() => document.getAnimations().every((a) => a.playState === "finished"));
  return page.evaluate(() => {
    const host = document.getElementById("board");
    const cols = Number(host.style.getPropertyValue("--cols"));
    const rows = Number(host.style.getPropertyValue("--rows"));
    const box = host.getBoundingClientRect();
    const cells = Array(rows * cols).fill(0);
    for (const face of host.children) {
      const { left, top, width, height } = face.getBoundingClientRect();
      const col = Math.round(((left + width / 2 - box.left) / box.width) * cols - 0.5);
      const row = Math.round(((top + height / 2 - box.top) / box.height) * rows - 0.5);
      cells[row * cols + col] = Number(face.textContent);
    }
    return cells;
  });
}

test("the keyboard goes from start to goal and back", () => visit(browser, "one.html", {}, async (page) => {
  const { solutions: [{ start, goal }] } = await data(page);
  assert.deepEqual(await board(page), start);
  assert.equal(await text(page, "distance"), "21");
  assert.equal(await page.locator("#backward").isDisabled(), true);
  await page.keyboard.press("ArrowRight");
  assert.equal(await at(page), 1);
  assert.equal(await text(page, "caption"), "Move 1: tile 5 moves down");
  assert.equal(await page.locator("[aria-current]").getAttribute("data-at"), "1");
  await page.keyboard.press("ArrowLeft");
  assert.deepEqual(await board(page), start);
  await page.keyboard.press("End");
  assert.equal(await at(page), 31);
  assert.deepEqual(await board(page), goal);
  assert.equal(await text(page, "distance"), "0");
  assert.equal(await text(page, "placed"), "8");
  assert.equal(await page.locator("#board.solved").count(), 1);
  await picture(page, "player-solved");
  await page.keyboard.press("Home");
  assert.deepEqual(await board(page), start);
  assert.equal(await page.locator("#board.solved").count(), 0);
}));

test("playing reaches the goal, and pauses when asked", () => visit(browser, "one.html", {}, async (page) => {
  await page.locator("#speed").selectOption("16");
  await page.locator("#play").click();
  await page.waitForFunction(() => Number(document.getElementById("slider").value) >= 4);
  await page.keyboard.press("Space");
  const paused = await at(page);
  assert.ok(paused < 31);
  assert.equal(await page.locator("#play").getAttribute("aria-label"), "Play");
  await page.waitForTimeout(300);
  assert.equal(await at(page), paused);
  await page.keyboard.press("Space");
  await page.waitForFunction(() => document.getElementById("slider").value === "31");
  assert.deepEqual(await board(page), (await data(page)).solutions[0].goal);
  assert.equal(await page.locator("#play").getAttribute("aria-label"), "Play");
}));

test("slider, buttons and move list lead to the same boards", () => visit(browser, "one.html", {}, async (page) => {
  await page.locator("#slider").fill("12");
  const twelve = await board(page);
  assert.equal(await text(page, "made"), "12");
  await page.locator("#forward").click();
  await page.locator("#backward").click();
  assert.deepEqual(await board(page), twelve);
  await page.locator("#last").click();
  await page.locator('#moves [data-at="12"]').click();
  assert.deepEqual(await board(page), twelve);
  await page.locator("#slider").focus();
  await page.keyboard.press("ArrowRight");
  assert.equal(await at(page), 13);
  await page.locator("#first").click();
  assert.equal(await at(page), 0);
}));

test("tiles slide by hand, and the way back is open", () => visit(browser, "one.html", {}, async (page) => {
  await page.locator("#slider").fill("2");
  const two = [8, 0, 7, 2, 6, 4, 3, 5, 1];
  assert.deepEqual(await board(page), two);
  await page.keyboard.press("l");
  assert.equal(await at(page), 3, "the next move of the solution is a step");
  await page.keyboard.press("r");
  assert.equal(await at(page), 2);
  await tile(page, 5).click();
  assert.equal(await at(page), 0, "two tiles slide at once, back along the solution");
  await page.locator("#slider").fill("2");
  await tile(page, 8).click();
  await tile(page, 3).click();
  assert.deepEqual(await board(page), [2, 8, 7, 3, 6, 4, 0, 5, 1]);
  assert.equal(await text(page, "caption"), "3 moves by hand, after move 2");
  assert.equal(await text(page, "made"), "2");
  assert.equal(await text(page, "beside"), ", 3 by hand");
  await picture(page, "player-by-hand");
  await page.locator("#undo").click();
  assert.deepEqual(await board(page), [2, 8, 7, 0, 6, 4, 3, 5, 1]);
  await page.locator("#return").click();
  assert.equal(await page.locator("#return").isVisible(), false);
  assert.deepEqual(await board(page), two);
  await tile(page, 8).click();
  const aside = await board(page);
  await page.keyboard.press("ArrowRight");
  assert.deepEqual(await board(page), aside, "an arrow key throws nothing away");
  await page.keyboard.press("ArrowLeft");
  assert.deepEqual(await board(page), two, "and takes one move of the hand back");
  await page.keyboard.press("r");
  await page.keyboard.press("End");
  assert.deepEqual(await board(page), (await data(page)).solutions[0].goal);
}));

test("a tile that is not in line with the blank stays", () => visit(browser, "one.html", {}, async (page) => {
  const start = await board(page);
  await tile(page, 8).click({ force: true });
  assert.deepEqual(await board(page), start);
  assert.equal(await tile(page, 8).getAttribute("aria-disabled"), "true");
  // A neighbour of the blank that the solution does not move first, whichever of the shortest was found.
  const first = await page.evaluate("walk.movers[0]");
  await tile(page, [3, 1].find((number) => number !== first)).focus();
  await page.keyboard.press("Enter");
  assert.equal(await text(page, "made"), "0");
  assert.equal(await text(page, "beside"), ", 1 by hand");
  await page.keyboard.press("Escape");
  assert.deepEqual(await board(page), start);
}));

test("letters follow the style", () => visit(browser, "blank.html", {}, async (page) => {
  assert.equal(await page.locator("[name=style]:checked").getAttribute("value"), "blank");
  const blank = await text(page, "notation");
  assert.match(blank, /^U2RDL/);
  await page.getByRole("radio", { name: "tile" }).check();
  const swap = { U: "D", D: "U", L: "R", R: "L" };
  assert.equal(await text(page, "notation"), blank.replace(/[UDLR]/g, (letter) => swap[letter]));
  assert.equal(await page.locator('#moves [data-at="1"] b').textContent(), "D");
}));

test("many solutions are chosen from, and addressed", () => visit(browser, "many.html#solution=2&move=4", {}, async (page) => {
  const { solutions } = await data(page);
  assert.equal(await text(page, "name"), '</script><img src=x onerror=alert(1)> & "quotes"');
  assert.equal(await at(page), 4);
  await picture(page, "player-many");
  for (const [index, { start, goal, moves }] of solutions.entries()) {
    await page.locator("#choice").selectOption(`${index}`);
    assert.deepEqual(await board(page), start);
    assert.equal(await text(page, "length"), `${moves.length}`);
    await page.keyboard.press("End");
    await page.locator("#last").evaluate((button) => button.click());
    assert.deepEqual(await board(page), goal);
  }
  assert.equal(await page.locator("#next").isDisabled(), true);
  await page.locator("#previous").click();
  assert.equal(await text(page, "name"), "blank first");
  await page.waitForFunction(() => location.hash === "#solution=4&move=0");
}));

test("a long solution is listed in pages and plays fast", () => visit(browser, "long.html", {}, async (page) => {
  const { solutions: [{ goal }] } = await data(page);
  assert.equal(await page.locator("#moves button").count(), 301);
  await page.locator("#later").click();
  assert.equal(await at(page), 301);
  assert.equal(await text(page, "range"), "301 to 600 of 20,000");
  await picture(page, "player-long");
  await page.locator("#play").click();
  await page.waitForFunction(() => Number(document.getElementById("slider").value) > 500);
  await page.locator("#last").click();
  assert.deepEqual(await board(page), goal);
}));

test("a finger plays and slides", () => visit(browser, "one.html", { ...PHONE, colorScheme: "dark" }, async (page) => {
  await page.locator("#forward").tap();
  assert.equal(await at(page), 1);
  await picture(page, "player-phone-dark");
  const before = await board(page);
  await tile(page, 2).tap();
  await picture(page, "player-phone-by-hand", false);
  assert.notDeepEqual(await board(page), before);
  await page.locator("#return").tap();
  assert.deepEqual(await board(page), before);
  for (const button of await page.locator(".transport button").all()) {
    const { width, height } = await button.boundingBox();
    assert.ok(width >= 44 && height >= 44, "a finger hits every button");
  }
}));

test("everything can be reached and is named", () => visit(browser, "many.html", {}, async (page) => {
  const nameless = await page.evaluate(() => [...document.querySelectorAll("button, select, input")]
    .filter((e) => !(e.getAttribute("aria-label") || e.textContent.trim() || e.closest("label")?.textContent.trim()))
    .map((e) => e.outerHTML));
  assert.deepEqual(nameless, []);
  const visited = new Set();
  for (let i = 0; i < 40; i++) {
    await page.keyboard.press("Tab");
    visited.add(await page.evaluate(() => document.activeElement.id || document.activeElement.className || document.activeElement.name));
  }
  for (const id of ["choice", "next", "tile", "slider", "forward", "play", "last", "speed", "style", "copy"]) {
    assert.ok(visited.has(id), `${id} is reached by Tab: ${[...visited]}`);
  }
}));

test("pictures in both schemes", async () => {
  for (const colorScheme of ["light", "dark"]) {
    for (const [kind, options] of [["desktop", {}], ["phone", PHONE]]) {
      await visit(browser, "many.html#solution=1&move=5", { ...options, colorScheme }, async (page) => {
        await board(page);
        assert.equal(await at(page), 5);
        await picture(page, `player-${kind}-${colorScheme}`);
        if (kind === "desktop" && colorScheme === "light") {
          await page.emulateMedia({ media: "print" });
          assert.equal(await page.locator(".transport").isVisible(), false);
          await picture(page, "player-print");
        }
      });
    }
  }
});
