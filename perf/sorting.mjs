// Sorts every table of an HTML report in headless Chromium by each of its headings, by mouse and by keyboard, and checks
// the order: numbers as numbers, what is unknown last, groups below their section, totals at their place, the third
// press as before.
//
//     npm install puppeteer-core
//     CHROMIUM=/usr/bin/chromium node sorting.mjs report.html
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { resolve } from "node:path";

const require = createRequire(`${process.cwd()}/`);
const puppeteer = require("puppeteer-core");
const browser = await puppeteer.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox"],
});
const page = await browser.newPage();
const faults = [];
page.on("pageerror", (error) => faults.push(`error ${error.message}`));
await page.goto(pathToFileURL(resolve(process.argv[2])).href);

const state = (heading) =>
  heading.evaluate((node) => ({
    sort: node.getAttribute("aria-sort"),
    bodies: [...node.closest("table").tBodies].map((body) =>
      [...body.rows].map((row) => {
        const cell = row.cells[node.cellIndex];
        return { kind: row.className, name: row.textContent, text: cell?.textContent.trim() ?? "", key: cell?.dataset.sort };
      }),
    ),
  }));

// Rows that are sorted among each other: below one section, or between totals.
const runs = (rows) => {
  const all = [[]];
  for (const row of rows) {
    if (/^(section|total|part)$/.test(row.kind)) all.push([]);
    else all.at(-1).push(row);
  }
  return all;
};
const numeric = (text) => (/^(at least |under )?[-+−]?\$?\d/.test(text) ? Number(text.replace(/^(at least |under )/, "").replace(/[$,]/g, "").match(/^[-+]?[\d.]+/)?.[0]) : null);
const members = (rows) => {
  let section = "";
  const found = [];
  for (const row of rows) {
    if (row.kind === "section") section = row.name;
    if (row.kind === "group") found.push(`${section} > ${row.name}`);
  }
  return found.sort();
};
const places = (rows, kind) => rows.flatMap((row, at) => (row.kind === kind ? [`${at} ${row.name}`] : []));
const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);

const isUnknown = ({ text, key }) => (key === undefined ? ["", "-", "–", "unknown", "not asked"].includes(text) : key === "");
const findFaults = (before, after, column) => {
  const found = [];
  before.bodies.forEach((rows, body) => {
    const now = after.bodies[body];
    if (!same(members(rows), members(now))) found.push("a group left its section");
    for (const kind of ["total", "part"]) if (!same(places(rows, kind), places(now, kind))) found.push(`a ${kind} moved`);
    if (after.sort === null && !same(rows, now)) found.push("the third press does not restore the order");
    for (const run of after.sort === null ? [] : runs(now)) {
      const known = run.filter((row) => !isUnknown(row));
      if (run.slice(0, known.length).some(isUnknown)) found.push("what is unknown is not last");
      const values = known.map(({ text, key }) => (key === undefined ? numeric(text) : Number(key)));
      const sorted = [...values].sort((one, other) => (after.sort === "descending" ? other - one : one - other));
      if (column > 0 && !values.includes(null) && !same(values, sorted)) found.push(`numbers are not ${after.sort}: ${values}`);
    }
  });
  return found;
};

const tables = await page.$$("main table");
let headings = 0;
for (const table of tables) {
  await table.evaluate((node) => {
    for (let at = node.parentElement; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
  });
  const name = await table.evaluate((node) => node.caption?.textContent);
  for (const heading of await table.$$("thead th:has(button)")) {
    headings += 1;
    const button = await heading.$("button");
    const [title, column] = await heading.evaluate((node) => [node.textContent, node.cellIndex]);
    const before = await state(heading);
    const sorts = [];
    for (const press of ["click", "Enter", "click"]) {
      await button.focus();
      await (press === "click" ? button.evaluate((node) => node.click()) : page.keyboard.press(press));
      const after = await state(heading);
      sorts.push(after.sort);
      for (const fault of findFaults(before, after, column)) faults.push(`${name}, ${title}: ${fault}`);
    }
    const cycle = ["ascending,descending,", "descending,ascending,"];
    if (!cycle.includes(`${sorts}`)) faults.push(`${name}, ${title}: aria-sort became ${sorts}`);
  }
}
console.log(`${tables.length} tables, ${headings} headings sorted, ${faults.length} faults`);
for (const fault of faults) console.log(`  ${fault}`);
await browser.close();
process.exit(faults.length ? 1 : 0);
