// Looks at the drawings of an HTML report in headless Chromium: whether the script marks answers as the page without
// script does, whether drawings fit, zoom by button, key and wheel, and scroll in pairs, and how they print.
//
//     npm install puppeteer-core
//     CHROMIUM=/usr/bin/chromium node drawings.mjs report.html
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { resolve } from "node:path";

const require = createRequire(`${process.cwd()}/`);
const puppeteer = require("puppeteer-core");
const address = pathToFileURL(resolve(process.argv[2])).href;
const browser = await puppeteer.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
let bad = 0;
const check = (what, right) => {
  bad += !right;
  console.log(`${right ? "ok " : "BAD"} ${what}`);
};

const open = async (script, width = 1280) => {
  const page = await browser.newPage();
  page.on("pageerror", (error) => check(`error ${error.message}`, false));
  await page.setJavaScriptEnabled(script);
  await page.setViewport({ width, height: 900, isMobile: width < 600, hasTouch: width < 600 });
  await page.goto(address);
  return page;
};
// What marks say, by question: places of signs on links differ, for the script takes the middle of the line.
const marks = (page) =>
  page.evaluate(() =>
    [...document.querySelectorAll("#list .question")].slice(0, 20).map((one) => {
      const svg = one.querySelector("[data-drawing=drawing] svg");
      const part = (group) => [group.getAttribute("class"), group.querySelector("title")?.textContent, group.querySelectorAll("circle, rect.o").length];
      return {
        id: one.querySelector(".id").textContent,
        description: svg?.querySelector("desc").textContent,
        nodes: [...(svg?.querySelectorAll("g[data-n]") ?? [])].map(part),
        links: [...(svg?.querySelectorAll("path[data-e]") ?? [])].map((line) => (line.parentElement === svg ? "" : part(line.parentElement))),
        key: [...one.querySelectorAll("[data-looks] li, [data-slot=unplaced]")].map((line) => line.textContent.trim().replace(/\s+/g, " ")),
      };
    }),
  );

const bare = await open(false);
const told = await marks(bare);
const page = await open(true);
await page.evaluate(() => [...document.querySelectorAll("#list .question > summary")].slice(0, 20).forEach((one) => one.click()));
await new Promise((done) => setTimeout(done, 2000));
const shown = await marks(page);
for (const [at, one] of told.entries()) {
  const same = JSON.stringify(one) === JSON.stringify(shown[at]);
  check(`${one.id}: the same marks with and without script, ${one.nodes.filter(([look]) => look).length} nodes, ${one.links.filter(Boolean).length} links`, same);
  if (!same) console.log(JSON.stringify(one), "\n", JSON.stringify(shown[at]));
}

const fits = (of) => of.$$eval(".question[open] .drawing, noscript ~ #list .drawing", (views) => views.every((view) => view.scrollWidth <= view.clientWidth));
check("drawings fit their width", await fits(page));
const narrow = await open(true, 390);
await narrow.evaluate(() => [...document.querySelectorAll("#list .question > summary")].slice(0, 20).forEach((one) => one.click()));
await new Promise((done) => setTimeout(done, 2000));
check("drawings fit their width at 390 px", await fits(narrow));
check("the page is no wider than 390 px", await narrow.evaluate(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth));

await page.bringToFront(); // a page behind another sends no scroll events
const view = await page.$(".question[open] .drawing");
const width = () => view.$eval("svg", (svg) => svg.getBoundingClientRect().width);
const press = async (key, expected, what) => {
  const before = await width();
  await view.focus();
  await page.keyboard.press(key);
  check(what, expected(await width(), before));
};
const first = await width();
await press("+", (now, before) => now > before * 1.2, "+ zooms in");
await press("-", (now, before) => now < before / 1.2, "- zooms out");
await press("9", (now) => now <= first, "9 shows all of it");
check("the whole drawing needs no scrolling", await view.evaluate((one) => one.scrollHeight <= one.clientHeight));
await press("1", (now) => now > 0, "1 is actual size");
check("actual size is that of the view box", await view.$eval("svg", (svg) => Math.abs(svg.getBoundingClientRect().width - svg.viewBox.baseVal.width) < 1));
await press("0", (now) => Math.abs(now - first) < 1, "0 fits the width");
const wheel = (control) =>
  view.evaluate((one, ctrlKey) => {
    const event = new WheelEvent("wheel", { deltaY: -200, ctrlKey, bubbles: true, cancelable: true });
    one.dispatchEvent(event);
    return event.defaultPrevented;
  }, control);
check("the wheel alone is the page's", !(await wheel(false)) && Math.abs((await width()) - first) < 1);
check("Ctrl and the wheel zoom", (await wheel(true)) && (await width()) > first);
check("buttons have names", await page.$$eval(".question[open] .tools button", (all) => all.length > 0 && all.every((one) => (one.ariaLabel ?? one.textContent).trim())));
const pair = await page.$(".question[open] .pair");
if (pair) {
  const together = await pair.evaluate(async (canvas) => {
    const [one, other] = canvas.querySelectorAll(".drawing");
    for (let at = 0; at < 6; at += 1) canvas.parentElement.querySelector("[data-zoom=in]").click();
    one.scrollTo(40, 60);
    await new Promise((done) => setTimeout(done, 200));
    return [one.scrollLeft === other.scrollLeft && one.scrollTop === other.scrollTop && one.scrollTop > 0, one.scrollWidth === other.scrollWidth];
  });
  check("drawings of a pair scroll together", together[0] || !together[1]);
}
await page.emulateMediaType("print");
check("drawings print at their width, without tools", await page.evaluate(() => {
  const fit = [...document.querySelectorAll(".question[open] .drawing")].every((one) => one.scrollWidth <= one.clientWidth + 1);
  return fit && [...document.querySelectorAll(".tools")].every((one) => getComputedStyle(one).display === "none");
}));
await browser.close();
process.exit(bad ? 1 : 0);
