"use strict";
(() => {
  if (!document.getElementById("index")) return; // no question was asked
  const PAGE = 50;
  const get = (id) => document.getElementById(id);
  const once = (make) => {
    let made;
    return () => (made ??= make());
  };
  const read = (id) => JSON.parse(get(id).textContent);
  const rows = read("index");
  const details = once(() => read("details"));
  const drawings = once(() => read("drawings"));
  const pairs = once(() => read("pairs"));
  rows.forEach((row, at) => (row.at = at));

  const selects = [...document.querySelectorAll("[data-filter]")];
  const search = get("search");
  let chosen = rows;
  let page = 0;

  // Texts of models are hostile: they become text nodes, never markup.
  const fill = (root, values) => {
    for (const slot of root.querySelectorAll("[data-slot]")) {
      const value = values[slot.dataset.slot];
      if (value !== undefined) slot.textContent = value;
    }
    for (const list of root.querySelectorAll("[data-list]")) {
      const items = values[list.dataset.list];
      if (items) list.replaceChildren(...items.map((item) => entry(list.firstElementChild, item)));
    }
  };
  const entry = (mould, item) => {
    const made = mould.cloneNode(true);
    const values = Array.isArray(item) ? item : [item];
    made.querySelectorAll("[data-item]").forEach((slot, at) => (slot.textContent = values[at]));
    return made;
  };

  const empty = (value) => value === undefined || value.length === 0;
  const open = (item, row) => {
    const { texts, questions } = details();
    const detail = questions[row.at];
    const whole = { ...row, ...detail, prompt: detail.prompt.map((digest) => texts[digest]).join("") };
    whole.expected = detail.whole_expected ?? row.expected;
    whole.given = detail.whole_given ?? row.given;
    whole.drawing = drawings()[detail.cluster];
    whole.pair = pairs()[row.at];
    ["expected", "given", "missing", "extra", "same"].forEach((part, at) => (whole[`pair_${part}`] = whole.pair?.[at]));
    fill(item.querySelector(".body"), whole);
    for (const part of item.querySelectorAll("[data-when]")) {
      if (empty(whole[part.dataset.when])) part.remove();
    }
    item.dispatchEvent(new CustomEvent("drawings", { bubbles: true, detail: { item, values: whole } }));
  };

  const shown = (row) => {
    const item = get("mould").content.firstElementChild.cloneNode(true);
    fill(item.querySelector("summary"), row);
    item.querySelector(".outcome").classList.add(row.outcome);
    item.firstElementChild.addEventListener("toggle", () => open(item, row), { once: true });
    return item;
  };

  const show = () => {
    const first = page * PAGE;
    const items = chosen.slice(first, first + PAGE).map(shown);
    get("list").replaceChildren(...items);
    get("list").start = first + 1;
    const pages = Math.max(1, Math.ceil(chosen.length / PAGE));
    get("pages").hidden = pages === 1;
    get("page").textContent = `Page ${page + 1} of ${pages}`;
    get("back").disabled = page === 0;
    get("on").disabled = page === pages - 1;
    const some = chosen.length === rows.length ? "" : ` of ${rows.length.toLocaleString("en")}`;
    get("count").textContent = `${chosen.length.toLocaleString("en")}${some} questions and replies; what is not right comes first.`;
  };

  const searched = once(() => {
    const { questions } = details();
    return rows.map((row) =>
      [row.id, row.text, row.expected, row.given, questions[row.at].reply, questions[row.at].error].join("\n").toLowerCase(),
    );
  });
  const fits = (row, name, value) =>
    value === "" || row[name] === value || (value === "not right" && !["right", "graded", "skipped"].includes(row.outcome));
  const apply = () => {
    const word = search.value.trim().toLowerCase();
    chosen = rows.filter(
      (row) => selects.every((one) => fits(row, one.dataset.filter, one.value)) && (!word || searched()[row.at].includes(word)),
    );
    page = 0;
    show();
  };
  const turn = (by) => {
    page += by;
    show();
    get("questions-title").focus();
  };
  const reset = () => {
    for (const one of selects) one.value = "";
    search.value = "";
  };

  // The address no longer tells what is chosen; the same link may be followed again.
  const choose = () => {
    if (location.hash.startsWith("#show:")) history.replaceState(null, "", "#questions");
    apply();
  };

  // Links such as #show:group=next_tasks choose filters.
  const follow = () => {
    if (!location.hash.startsWith("#show:")) return;
    reset();
    for (const [name, value] of new URLSearchParams(location.hash.slice("#show:".length))) {
      const control = name === "search" ? search : selects.find((one) => one.dataset.filter === name);
      if (control) control.value = value;
    }
    apply();
    get("questions-title").focus();
  };

  let waiting;
  search.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(choose, 150);
  });
  for (const one of selects) one.addEventListener("change", choose);
  get("reset").addEventListener("click", () => {
    reset();
    choose();
    search.focus();
  });
  get("back").addEventListener("click", () => turn(-1));
  get("on").addEventListener("click", () => turn(1));
  addEventListener("hashchange", follow);
  get("filters").hidden = false;
  show();
  follow();
})();
