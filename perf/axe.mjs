// Looks at an HTML report in headless Chromium at 1280 and 390 px, light and dark: axe-core's violations, what the page
// tried to fetch, whether it is wider than the screen, and a screenshot each; and what is wider than A4 paper in print.
//
//     npm install axe-core puppeteer-core
//     CHROMIUM=/usr/bin/chromium node axe.mjs report.html [folder for screenshots]
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { resolve } from "node:path";

const require = createRequire(`${process.cwd()}/`);
const puppeteer = require("puppeteer-core");
const axe = require("axe-core");
const [page_file, folder] = process.argv.slice(2);
const address = pathToFileURL(resolve(page_file)).href;

const browser = await puppeteer.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox"],
});
console.log(`${await browser.version()}, axe-core ${axe.version}`);
let bad = 0;
for (const width of [1280, 390]) {
  for (const scheme of ["light", "dark"]) {
    const page = await browser.newPage();
    const told = [];
    page.on("request", (one) => one.url() !== address && !one.url().startsWith("data:") && told.push(`fetches ${one.url()}`));
    page.on("pageerror", (error) => told.push(`error ${error.message}`));
    page.on("console", (one) => one.type() === "error" && told.push(`console ${one.text()}`));
    await page.setViewport({ width, height: 900, isMobile: width < 600, hasTouch: width < 600 });
    await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
    await page.goto(address);
    for (const part of ["figure details > summary", "#repetitions details > summary", "#changes details > summary", ".question > summary"]) {
      for (const one of (await page.$$(part)).slice(0, 3)) await one.evaluate((node) => node.click());
    }
    await page.waitForSelector(".question[open]", { timeout: 5000 }).catch(() => {});
    for (const one of await page.$$(".question[open] details > summary")) await one.evaluate((node) => node.click());
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    if (wide > 0) told.push(`${wide} px wider than the screen`);
    if (folder) await page.screenshot({ path: `${folder}/${width}-${scheme}.png`, fullPage: true });
    // The page's policy forbids scripts from outside; puppeteer's own world is not bound by it.
    await page.evaluate(axe.source);
    const { violations, passes, incomplete } = await page.evaluate(() => globalThis.axe.run(document));
    console.log(`${width} px, ${scheme}: ${violations.length} violations, ${passes.length} rules passed, ${incomplete.length} to look at`);
    for (const one of incomplete) console.log(`  to look at: ${one.id}, ${one.nodes.length} nodes, ${one.nodes[0].any[0]?.message}`);
    for (const one of violations) told.push(`${one.impact} ${one.id}: ${one.help}: ${one.nodes.length} nodes, ${one.nodes[0].html.slice(0, 160)}`);
    for (const line of told) console.log(`  ${line}`);
    bad += told.length;
    await page.close();
  }
}
const PAPER = 703; // px of A4 between margins of 12 mm
const printed = await browser.newPage();
await printed.setViewport({ width: PAPER, height: 1000 });
await printed.goto(address);
await printed.emulateMediaType("print");
await printed.evaluate(() => dispatchEvent(new Event("beforeprint")));
const cut = await printed.$$eval("table, pre, svg, dl", (all) =>
  all.filter((one) => one.getBoundingClientRect().right > innerWidth + 1).map((one) => `${one.localName} ${one.caption?.textContent ?? ""}`),
);
console.log(`print: ${cut.length} parts wider than the paper`);
for (const line of cut) console.log(`  ${line}`);
bad += cut.length;
await browser.close();
process.exit(bad ? 1 : 0);
