// axe-core finds nothing to object to on any page: contrasts, names, roles, order of headings, and what else it knows.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { after, before, test } from "node:test";
import { DESKTOP, PHONE, launch } from "./browser.mjs";

const { NODE_MODULES, TILEWAVE_PAGES } = process.env;
const axe = readFileSync(createRequire(join(NODE_MODULES, "/")).resolve("axe-core/axe.min.js"), "utf8");
const pages = readdirSync(TILEWAVE_PAGES, { recursive: true }).filter((name) => name.endsWith(".html")).sort();

let browser;
before(async () => { browser = await launch(); });
after(() => browser.close());

// The rules that a page breaks, each with the elements that do.
async function broken(name, options) {
  const context = await browser.newContext({ offline: true, ...options });
  try {
    const page = await context.newPage();
    await page.goto(pathToFileURL(join(TILEWAVE_PAGES, name)).href);
    // Scripts of others are not allowed on the pages: this one is evaluated from outside.
    await page.evaluate(axe);
    const { violations } = await page.evaluate(() => axe.run(document, { resultTypes: ["violations"] }));
    return violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.slice(0, 3).map(({ html }) => html.slice(0, 150)).join(" ; ")}`);
  } finally {
    await context.close();
  }
}

test("there are pages of every kind", () => {
  for (const name of ["3x3.html", "atlas.html", "site/index.html"]) assert.ok(pages.includes(name), `${name} is not in ${pages}`);
});

for (const name of pages) {
  test(`axe-core finds nothing on ${name}`, async () => {
    assert.deepEqual(await broken(name, { ...DESKTOP, colorScheme: "light" }), []);
    assert.deepEqual(await broken(name, { ...PHONE, colorScheme: "dark" }), []);
  });
}
