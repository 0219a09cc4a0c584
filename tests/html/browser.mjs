// A headless browser without a network, and what every page must keep to.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const { CHROMIUM, NODE_MODULES, SCREENSHOTS, TILEWAVE_PAGES } = process.env;
const { chromium } = createRequire(join(NODE_MODULES, "/"))("playwright-core");

export const DESKTOP = { viewport: { width: 1280, height: 900 } };
export const PHONE = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, hasTouch: true, isMobile: true };

export function launch() {
  const args = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
  return chromium.launch({ executablePath: CHROMIUM, headless: true, args });
}

// Opens a page of $TILEWAVE_PAGES, hands it to `use`, and checks that it made no request, raised no
// error and is not wider than the screen.
export async function visit(browser, name, options, use) {
  const context = await browser.newContext({ offline: true, ...DESKTOP, ...options });
  context.setDefaultTimeout(10_000);
  const page = await context.newPage();
  const complaints = [];
  page.on("console", (message) => complaints.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => complaints.push(`error: ${error.message}`));
  page.on("dialog", (dialog) => { complaints.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
  const file = pathToFileURL(join(TILEWAVE_PAGES, name.split("#")[0])).href;
  page.on("request", (request) => {
    const url = request.url();
    if (url.split("#")[0] !== file && !url.startsWith("data:")) complaints.push(`request: ${url}`);
  });
  await page.goto(file + (name.includes("#") ? `#${name.split("#")[1]}` : ""));
  try {
    await use(page);
    const excess = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(excess <= 0, `${name} is ${excess} pixels wider than the screen`);
    assert.deepEqual(complaints, []);
  } finally {
    await context.close();
  }
}

export async function picture(page, name, fullPage = true) {
  if (SCREENSHOTS) await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`), fullPage });
}
