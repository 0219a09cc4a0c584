import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { PHONE, launch, picture, visit } from "./browser.mjs";

let browser;
before(async () => { browser = await launch(); });
after(() => browser.close());

const text = (page, id) => page.locator(`#${id}`).textContent();
const data = (page) => page.evaluate(() => JSON.parse(document.getElementById("data").textContent));
const named = async (page, name) => (await data(page)).searches.find((search) => search.name === name);
const bars = (page) => page.locator("#chart .bar").count();

test("it opens in under a second", async () => {
  const times = [];
  for (let i = 0; i < 3; i++) {
    await visit(browser, "atlas.html", {}, async (page) => {
      await page.waitForFunction(() => performance.getEntriesByType("navigation")[0].loadEventEnd > 0);
      times.push(await page.evaluate(() => performance.getEntriesByType("navigation")[0].loadEventEnd));
    });
  }
  assert.ok(Math.min(...times) < 1000, `${times} ms`);
});

test("board, goal blank and metric choose a search", () => visit(browser, "atlas.html", {}, async (page) => {
  await page.locator("#puzzle").selectOption("2x5");
  assert.equal(await text(page, "title"), "2x5: God's number 55");
  assert.equal(await page.title(), "2x5: God's number 55");
  assert.equal(await text(page, "what"), "Blank of the goal in row 2, column 5; single-tile metric");
  // The fourth cell of the second row is the second of the first, turned.
  await page.getByRole("button", { name: /^row 2, column 4/ }).click();
  const one = await named(page, "2x5-blank1");
  assert.equal(await text(page, "antipodes"), `${one.counts.at(-1)}`);
  assert.equal(await bars(page), one.counts.length);
  assert.equal(await page.locator("#blank [aria-pressed=true]").getAttribute("aria-label"), "row 1, column 2: 55 moves");
  assert.equal(await page.locator("#blank .same").count(), 4);
  await page.getByRole("radio", { name: "Multi-tile metric" }).check();
  const several = await named(page, "2x5-blank1-mtm");
  assert.equal(await text(page, "title"), `2x5: God's number ${several.counts.length - 1}`);
  assert.equal(await bars(page), several.counts.length);
  assert.equal(await page.evaluate(() => location.hash), "#2x5-blank1-mtm");
  // The metric stays where another board has it.
  await page.locator("#puzzle").selectOption("3x3");
  assert.equal(await page.evaluate(() => location.hash), "#3x3-mtm");
  await page.locator("#blank button").nth(8).focus();
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate(() => location.hash), "#3x3-blank1-mtm");
}));

test("the distribution is told, and compared with the other metric", () => visit(browser, "atlas.html#3x3-mtm", {}, async (page) => {
  await page.locator("#chart").focus();
  await page.keyboard.press("End");
  assert.equal(await text(page, "readout"), "Depth 24: 1 state, 0.000551 % of all");
  assert.equal(await page.locator("#chart .beside").count(), 0);
  await page.locator("#beside").check();
  assert.equal(await page.locator("#chart .beside").count(), 1);
  await page.getByRole("radio", { name: "Logarithmic" }).check();
  assert.equal(await page.locator("#chart .dot").count(), 25);
  assert.equal(await page.locator("#chart .beside").count(), 1);
  const row = await page.locator("#compare tr.at td").allTextContents();
  assert.deepEqual(row.slice(0, 6), ["row 3, column 3", "31", "2", "21.972", "24", "1"]);
  await page.locator("#compare a").nth(2).click();
  // The page follows a link when the event of its address comes, which a busy machine lets wait.
  await page.locator("#what", { hasText: "row 2, column 2" }).waitFor();
}));

test("an antipode opens in the player with a shortest solution", async () => {
  for (const [name, says] of [["3x4-blank5", "Solved in 53 moves shortest possible"], ["3x3-mtm", "Solved in 24 moves of one or more tiles shortest possible"]]) {
    await visit(browser, `atlas.html#${name}`, {}, async (page) => {
      const { counts, last, goal } = await named(page, name);
      assert.equal(await text(page, "last-title"), `${counts.at(-1)} ${last.length === 1 ? "antipode" : "antipodes"} at depth ${counts.length - 1}`);
      assert.equal(await page.locator("#gallery button").count(), last.length);
      await page.locator("#gallery button").last().click();
      const frame = page.frameLocator("#frame");
      assert.equal(await frame.locator("#headline").textContent(), says);
      const label = (id) => frame.locator(`#${id}`).getAttribute("aria-label");
      assert.equal(await label("start"), last.at(-1).replaceAll("/", " / "));
      assert.equal(await label("goal"), goal.replaceAll("/", " / "));
      await frame.locator("#last").click();
      assert.match(await frame.locator("#caption").textContent(), /Solved!$/);
      await picture(page, `atlas-player-${name}`, false);
      await page.locator("#close").click();
      assert.equal(await page.locator("#player").isVisible(), false);
    });
  }
});

test("every search can be shown, and says how it was checked", () => visit(browser, "atlas.html", {}, async (page) => {
  const { searches } = await data(page);
  assert.ok(searches.length >= 100, `${searches.length}`);
  for (const { name, counts, last, confirmed, cite } of searches) {
    await page.evaluate((name) => { location.hash = name; }, name);
    await page.waitForFunction((name) => document.getElementById("file").textContent === `${name}.json`, name);
    assert.match(await text(page, "title"), new RegExp(`God's number ${counts.length - 1}$`), name);
    assert.equal(await page.locator("#checks li").count(), 1 + confirmed.length + cite.length, name);
    assert.equal(await page.locator("#gallery > *").count(), Math.min(12, last.length), name);
  }
  await page.evaluate(() => { location.hash = "3x3"; });
  await page.waitForFunction(() => document.getElementById("file").textContent === "3x3.json");
  const links = await page.locator("#checks a").evaluateAll((all) => all.map((a) => a.href));
  assert.ok(links.includes("https://oeis.org/A089473") && links.some((to) => to.startsWith("https://github.com/")), `${links}`);
  await page.evaluate(() => { location.hash = "3x3-blank4"; });
  await page.waitForFunction(() => document.getElementById("file").textContent === "3x3-blank4.json");
  await page.locator("#more").click();
  assert.equal(await page.locator("#gallery > *").count(), 60);
  assert.equal(await text(page, "left-out"), "88 more are not shown here; 3x3-blank4.json lists up to 1,000.");
}));

test("headings sort the tables, by mouse and by keyboard", () => visit(browser, "atlas.html", {}, async (page) => {
  const column = async (table, at) => (await page.locator(`${table} tr td:nth-child(${at + 1})`).allTextContents());
  const value = (text) => Number(text.replaceAll(",", ""));
  const head = (table, name) => page.locator(table).getByRole("columnheader", { name });
  const sortedBy = () => page.locator("#all th[aria-sort]").evaluateAll((all) => all.map((e) => `${e.textContent} ${e.getAttribute("aria-sort")}`));
  const before = await column("#all tbody", 0);
  for (const [at, name] of [[3, "States"], [4, "God's number"], [5, "Antipodes"]]) {
    await head("#all", name).getByRole("button").click();
    assert.deepEqual(await sortedBy(), [`${name} ascending`]);
    const up = (await column("#all tbody", at)).map(value);
    assert.equal(up.length, before.length);
    assert.ok(up.every((one, i) => !i || up[i - 1] <= one) && up[0] < up.at(-1), `${name}: ${up}`);
    // The heading has the focus: the keyboard turns the order round.
    await page.keyboard.press("Enter");
    assert.deepEqual(await sortedBy(), [`${name} descending`]);
    assert.deepEqual((await column("#all tbody", at)).map(value), [...up].sort((a, b) => b - a));
  }
  await head("#all", "Puzzle").getByRole("button").click();
  const names = await column("#all tbody", 0);
  assert.deepEqual([...names].sort(), [...before].sort());
  assert.ok(names.indexOf("pancake:9") < names.indexOf("pancake:10"), "numbers in names count by their value");
  for (const round of [1, 2]) {
    await head("#all", "Metric").getByRole("button").click();
    assert.equal((await column("#all tbody", 2)).at(-1), "", "what has no metric comes last");
  }
  // The other table keeps its order when another search is chosen.
  await page.evaluate(() => { location.hash = "3x4"; });
  await page.locator("#title", { hasText: "3x4" }).waitFor();
  await head("#compare-head", "mean").first().getByRole("button").click();
  const means = (await column("#compare", 3)).map(value);
  assert.deepEqual(means, [...means].sort((a, b) => a - b));
  await page.locator("#compare a").first().click();
  await page.locator("#compare tr.at:first-child").waitFor();
  assert.deepEqual((await column("#compare", 3)).map(value), means);
}));

test("it fits a phone, in both schemes", async () => {
  for (const colorScheme of ["light", "dark"]) {
    for (const [kind, options] of [["desktop", {}], ["phone", PHONE]]) {
      for (const name of ["3x4-blank1", "2x6-mtm", "pancake-10"]) {
        await visit(browser, `atlas.html#${name}`, { ...options, colorScheme }, async (page) => {
          await picture(page, `atlas-${name}-${kind}-${colorScheme}`);
          const low = await page.evaluate(() => [...document.querySelectorAll("button, select")]
            .filter((e) => e.offsetHeight && e.offsetHeight < 44).map((e) => e.outerHTML));
          assert.deepEqual(low, [], "a finger hits every button");
        });
      }
    }
  }
  await visit(browser, "atlas.html#3x4", PHONE, async (page) => {
    await page.locator("#gallery button").first().tap();
    await page.frameLocator("#frame").locator("#forward").tap();
    await picture(page, "atlas-player-phone", false);
    await page.locator("#close").tap();
  });
});

test("without a program there is the table", () => visit(browser, "atlas.html", { javaScriptEnabled: false }, async (page) => {
  await page.locator("#all summary").click();
  assert.ok(await page.locator("#all tbody tr").count() >= 100);
  assert.equal(await page.locator("#puzzle").isVisible(), false);
}));
