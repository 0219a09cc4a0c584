import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { PHONE, launch, picture, visit } from "./browser.mjs";

let browser;
before(async () => { browser = await launch(); });
after(() => browser.close());

const height = (page, selector) => page.locator(selector).evaluate((e) => e.getBBox().height);
const scale = (page, name) => page.getByRole("radio", { name }).check();

test("the linear chart is proportional, the logarithmic one is not", () => visit(browser, "3x3.html", {}, async (page) => {
  const { search: { counts } } = await page.evaluate(() => JSON.parse(document.getElementById("data").textContent));
  assert.equal(await page.locator("#chart .bar").count(), counts.length);
  const high = await height(page, '.bar[data-depth="24"]');
  const half = await height(page, '.bar[data-depth="18"]');
  assert.ok(Math.abs(half / high - counts[18] / counts[24]) < 0.01);
  assert.equal(await page.locator("#chart .mean").count(), 1);
  await scale(page, "Logarithmic");
  assert.equal(await page.locator("#chart .bar").count(), 0);
  const y = async (depth) => Number(await page.locator(`.dot[data-depth="${depth}"]`).getAttribute("cy"));
  const decade = (await y(0) - await y(24)) / Math.log10(counts[24]);
  const expected = decade * Math.log10(counts[10]);
  assert.ok(Math.abs(await y(0) - await y(10) - expected) < 1);
  await scale(page, "Linear");
  assert.equal(await page.locator("#chart .bar").count(), counts.length);
}));

test("pointing at a depth tells its states", () => visit(browser, "3x3.html", {}, async (page) => {
  const { x, y, width } = await page.locator('.bar[data-depth="20"]').boundingBox();
  await page.mouse.move(x + width / 2, y - 30);
  assert.match(await page.locator("#readout").textContent(), /^Depth 20: 16,993 states/);
  assert.equal(await page.locator("tr.at td").first().textContent(), "20");
  await picture(page, "search-hover", false);
  await page.locator("#chart").focus();
  await page.keyboard.press("ArrowRight");
  assert.match(await page.locator("#readout").textContent(), /^Depth 21: 17,110 states/);
  await page.keyboard.press("End");
  assert.match(await page.locator("#readout").textContent(), /^Depth 31: 2 states.* 100.0000 %$/);
  assert.equal(await page.locator("#chart").getAttribute("aria-valuetext"), "depth 31: 2 states");
}));

test("antipodes are drawn, and a search that stopped has none", async () => {
  await visit(browser, "3x3.html", {}, async (page) => {
    const boards = await page.locator(".gallery .mini").evaluateAll((all) => all.map((e) => e.getAttribute("aria-label")));
    assert.deepEqual(boards.sort(), ["6 4 7/8 5 0/3 2 1", "8 6 7/2 5 4/3 0 1"]);
    assert.equal(await page.locator("#last-title").textContent(), "2 antipodes at depth 31");
    const box = await page.locator(".gallery .mini span").first().boundingBox();
    assert.ok(Math.abs(box.width - box.height) < 1, "cells are square");
  });
  await visit(browser, "limited.html", {}, async (page) => {
    assert.match(await page.locator("h1").textContent(), /to depth 9$/);
    assert.match(await page.locator("p.more").textContent(), /more are not drawn/);
    await picture(page, "search-limited");
  });
});

test("solids and boards of colours are drawn, too, and the OEIS can be searched", async () => {
  await visit(browser, "ivy.html", {}, async (page) => {
    assert.equal(await page.locator(".gallery .net").count(), 60);
    assert.equal(await page.locator(".gallery .net").first().locator("path").count(), 6 * 5);
    assert.match(await page.locator(".gallery figcaption").first().textContent(), /^corners .*; centres /);
    assert.match(await page.locator("p.more").textContent(), /^50 more are not drawn/);
    assert.equal(await page.locator(".verdict a").getAttribute("href"), "https://oeis.org/search?q=1,8,48,288,1640,7582,15262,4221,110");
    await picture(page, "search-ivy");
  });
  await visit(browser, "two-colours.html", { ...PHONE, colorScheme: "dark" }, async (page) => {
    const tiles = await page.locator(".gallery .mini span").allTextContents();
    assert.deepEqual(tiles, ["2", "2", "2", "2", "1", "1", "1", "1", ""]);
    await picture(page, "search-two-colours");
  });
});

test("a contradiction cannot be overlooked", () => visit(browser, "wrong.html", {}, async (page) => {
  const tag = page.locator(".tag.bad");
  assert.match(await tag.textContent(), /^DISAGREES with .*first difference at depth 5/);
  assert.equal(await tag.isVisible(), true);
  await picture(page, "search-wrong");
}));

test("the chart fits every screen, in both schemes", async () => {
  for (const colorScheme of ["light", "dark"]) {
    for (const [kind, options] of [["desktop", {}], ["phone", PHONE]]) {
      for (const name of ["3x4", "2x7"]) {
        await visit(browser, `${name}.html`, { ...options, colorScheme }, async (page) => {
          await picture(page, `search-${name}-${kind}-${colorScheme}`);
          await scale(page, "Logarithmic");
          const inside = await page.locator("#chart").evaluate((chart) => {
            const box = chart.getBoundingClientRect();
            return [...chart.querySelectorAll("text, circle, path")].every((e) => {
              const { left, right, top, bottom } = e.getBoundingClientRect();
              return left >= box.left - 1 && right <= box.right + 1 && top >= box.top - 1 && bottom <= box.bottom + 1;
            });
          });
          assert.ok(inside, "nothing is cut off");
          await picture(page, `search-${name}-${kind}-${colorScheme}-log`, false);
        });
      }
    }
  }
});

test("a finger points, and a turned phone redraws", () => visit(browser, "2x7.html", PHONE, async (page) => {
  const { x, y, width, height: tall } = await page.locator("#chart").boundingBox();
  await page.touchscreen.tap(x + width / 2, y + tall / 2);
  assert.match(await page.locator("#readout").textContent(), /^Depth \d+: /);
  await page.setViewportSize({ width: 844, height: 390 });
  await page.waitForFunction(() => document.querySelector("#chart svg").viewBox.baseVal.width > 600);
}));
