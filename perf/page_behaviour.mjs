// Uses the questions of an HTML report in headless Chromium as a person does: links to single questions, filters in the
// address, going back, names marked in texts, arrow keys, copying and printing. Prints each check; exits 1 if one fails.
//
//     npm install puppeteer-core
//     CHROMIUM=/usr/bin/chromium node page_behaviour.mjs report.html
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { resolve } from "node:path";

const require = createRequire(`${process.cwd()}/`);
const puppeteer = require("puppeteer-core");
const address = pathToFileURL(resolve(process.argv[2])).href;
const browser = await puppeteer.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
const page = await browser.newPage();
let failed = 0;
const errors = [];
page.on("pageerror", (error) => errors.push(error.message));
const check = (name, holds, found = "") => {
  failed += !holds;
  console.log(`${holds ? "ok    " : "FAILED"} ${name}${holds ? "" : `: ${JSON.stringify(found)}`}`);
};
const settle = () => new Promise((done) => setTimeout(done, 300));
const go = async (hash) => {
  await page.evaluate((to) => (location.hash = to), hash);
  await settle();
};
const state = () =>
  page.evaluate(() => ({
    hash: location.hash,
    focused: document.activeElement.querySelector?.(".id")?.textContent,
    who: document.activeElement.querySelector?.(".who")?.textContent,
    open: [...document.querySelectorAll(".question[open] .id")].map((one) => one.textContent),
    count: document.getElementById("count").textContent,
    page: document.getElementById("page").textContent,
  }));
const link = (row) => `#question=${encodeURIComponent(row.id)}&model=${encodeURIComponent(row.model)}`;

await page.goto(address);
const rows = await page.evaluate(() => JSON.parse(document.getElementById("index").textContent));
const [first, last] = [rows[0], rows.at(-1)];

await page.goto("about:blank");
await page.goto(address + link(last));
await settle();
let now = await state();
check("a link opens and focuses its question on another page", now.focused === last.id && now.who === last.model && now.open.includes(last.id), now);
await go(link(first));
now = await state();
check("a second link opens another question", now.focused === first.id, now);
await page.goBack();
await settle();
now = await state();
check("going back returns to the former question", now.focused === last.id && now.hash === link(last), now);

if (await page.$("[data-filter=outcome]")) {
  await page.select("[data-filter=outcome]", first.outcome);
  await settle();
  now = await state();
  check("the address states the filters", now.hash === `#show:outcome=${first.outcome}`, now);
  await page.reload();
  await settle();
  check("loading the address again restores the filters", (await page.$eval("[data-filter=outcome]", (one) => one.value)) === first.outcome);
  const hidden = rows.findLast((row) => row.outcome !== first.outcome);
  if (hidden) {
    await go(link(hidden));
    now = await state();
    check("a link opens a question that filters hid", now.focused === hidden.id && !now.count.includes(" of "), now);
  }
}
await page.goto("about:blank");
await page.goto(`${address}#show:page=2`);
await settle();
now = await state();
if (rows.length > 50) check("the address states the page", now.page.startsWith("Page 2"), now);
const hostile = "<img src=x onerror=alert(1)>%";
await go(`#question=${encodeURIComponent(hostile)}`);
now = await state();
check("an unknown question is named as text", now.count === `This report has no question ${hostile}.` && !(await page.$("img")), now);
await go("#question=%E0%A4%A&model=%");
check("a broken address does no harm", errors.length === 0, errors);

await page.goto("about:blank");
await page.goto(address + link(first));
await settle();
const shown = await page.evaluate(() => {
  const item = document.querySelector(".question[open]");
  const detail = JSON.parse(document.getElementById("details").textContent).questions[0];
  return { same: !detail.reply || item.querySelector("[data-slot=reply]").textContent === detail.reply, marks: item.querySelectorAll("mark").length };
});
check("marked texts are unchanged", shown.same);
if (shown.marks) {
  await page.evaluate(() => (document.querySelector(".question[open] .finder").open = true));
  await page.click(".question[open] .finder button");
  const found = await page.evaluate(() => {
    const item = document.querySelector(".question[open]");
    const pressed = item.querySelector(".finder [aria-pressed=true]");
    const places = [...item.querySelectorAll("mark.found")];
    return [places.length > 0 && places.every((one) => one.dataset.name === pressed.dataset.name), pressed.textContent, places.length];
  });
  check("a name that is pressed is found in all texts", found[0] && found[1].endsWith(`(${found[2]})`), found);
  await page.click(".question[open] .finder button");
  check("pressing it again ends that", (await page.$("mark.found")) === null);
}
await page.focus(".question > summary");
await page.keyboard.press("End");
const end = await page.evaluate(() => [...document.querySelectorAll(".question > summary")].at(-1) === document.activeElement);
await page.keyboard.press("ArrowUp");
const up = await page.evaluate(() => [...document.querySelectorAll(".question > summary")].at(-2) === document.activeElement);
check("End and arrow keys go along the questions", end && (up || rows.length === 1));
await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
const closed = await page.$$eval(".question[open] details:not([open])", (all) => all.length);
await page.evaluate(() => dispatchEvent(new Event("afterprint")));
const refolded = await page.$$eval(".question[open] details:not([open])", (all) => all.length);
check("an opened question prints whole, and folds again", closed === 0 && refolded > 0, [closed, refolded]);
await page.evaluate(() => Object.defineProperty(navigator, "clipboard", { value: undefined }));
await page.$eval(".question[open] [data-copy=prompt]", (button) => {
  button.closest("details").open = true;
  button.click();
});
await settle();
const told = await page.$eval("#copied", (one) => one.textContent);
check("without a clipboard the text is copied or selected", /^(Copied|The text is selected)$/.test(told), told);
check("no script failed", errors.length === 0, errors);
await browser.close();
process.exit(failed ? 1 : 0);
