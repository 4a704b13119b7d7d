"use strict";
(() => {
  // Every table whose rows can be put in another order; not those of single questions.
  const movable = (table) =>
    table.tHead && !table.closest("#list") && [...table.tBodies].some((body) => body.rows.length > 1);
  const tables = [...document.querySelectorAll("main table")].filter(movable);
  const UNKNOWN = new Set(["", "-", "–", "unknown", "not asked"]);
  const NUMBER = /^(?:at least |under |[<≥] ?)?([-+−]?)\$?(\d[\d,]*(?:\.\d+)?)/;
  const words = new Intl.Collator("en", { numeric: true });
  const DIRECTIONS = { descending: -1, ascending: 1 };

  // The value of a cell: a number, a text, or null for what is unknown, which stands last.
  const value = (cell) => {
    if (!cell) return null;
    if (cell.dataset.sort !== undefined) return cell.dataset.sort === "" ? null : Number(cell.dataset.sort);
    const text = cell.textContent.trim();
    if (UNKNOWN.has(text)) return null;
    const [, sign, digits] = (cell.tagName === "TD" && NUMBER.exec(text)) || [];
    return digits === undefined ? text : Number(digits.replaceAll(",", "")) * (sign && sign !== "+" ? -1 : 1);
  };

  // A section keeps its groups below it; a total ends the rows before it and stays where it is. Baselines stay last.
  const sorted = (rows, order) => {
    const result = [];
    let units = [];
    const finish = () => {
      const rank = ([row]) => row.classList.contains("baseline");
      units.sort((one, other) => rank(one) - rank(other) || order(one[0], other[0]));
      for (const [head, ...below] of units) result.push(head, ...below.sort(order));
      units = [];
    };
    for (const row of rows) {
      const kind = row.classList;
      if (kind.contains("total") || kind.contains("part")) {
        finish();
        result.push(row);
      } else if (kind.contains("group") && units.at(-1)?.[0].classList.contains("section")) units.at(-1).push(row);
      else units.push([row]);
    }
    finish();
    return result;
  };

  const sortable = (table) => {
    const bodies = [...table.tBodies].map((body) => [body, [...body.rows]]);
    const headings = [...table.tHead.rows[0].cells];
    const sort = (heading) => {
      const values = new Map(bodies.flatMap(([, rows]) => rows.map((row) => [row, value(row.cells[heading.cellIndex])])));
      const known = [...values.values()].filter((one) => one !== null);
      const numbers = known.every((one) => typeof one === "number");
      const cycle = numbers ? ["descending", "ascending", ""] : ["ascending", "descending", ""];
      const direction = cycle[(cycle.indexOf(heading.getAttribute("aria-sort") ?? "") + 1) % cycle.length];
      const compare = numbers ? (one, other) => one - other : (one, other) => words.compare(one, other);
      const order = (a, b) => {
        const [one, other] = [values.get(a), values.get(b)];
        if (one === null || other === null) return (one === null) - (other === null);
        return DIRECTIONS[direction] * compare(one, other);
      };
      for (const other of headings) other.removeAttribute("aria-sort");
      if (direction) heading.setAttribute("aria-sort", direction);
      for (const [body, rows] of bodies) body.append(...(direction ? sorted(rows, order) : rows));
    };
    for (const heading of headings) {
      if (!heading.textContent.trim()) continue;
      const button = document.createElement("button");
      button.type = "button";
      button.append(...heading.childNodes);
      button.addEventListener("click", () => sort(heading));
      heading.append(button);
    }
  };
  tables.forEach(sortable);

  // A table that is wider than its frame says so.
  const widths = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      const box = target.closest(".scroll");
      box.classList.toggle("wider", box.scrollWidth > box.clientWidth);
    }
  });
  for (const part of document.querySelectorAll(".scroll, .scroll > table")) widths.observe(part);
})();
