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
  const number = (value) => value.toLocaleString("en");
  const rows = read("index");
  const details = once(() => read("details"));
  const drawings = once(() => read("drawings"));
  const pairs = once(() => read("pairs"));
  const grid = get("grid") && read("cells"); // of one model with one prompt there is none
  rows.forEach((row, at) => (row.at = at));

  const selects = [...document.querySelectorAll("[data-filter]")];
  const search = get("search");
  let chosen = rows;
  let lines = []; // of the grid, those with a chosen question
  let view = "list";
  let page = 0;

  // Texts of models are hostile: they become text nodes, never markup.
  const fill = (root, values) => {
    for (const list of root.querySelectorAll("[data-list]")) {
      const items = values[list.dataset.list];
      if (items) list.replaceChildren(...items.map((item) => entry(list.firstElementChild, item)));
    }
    for (const slot of root.querySelectorAll("[data-slot]")) {
      const value = values[slot.dataset.slot];
      if (value !== undefined) slot.textContent = value;
    }
  };
  const empty = (value) => value === undefined || value.length === 0;
  const prune = (root, values) => {
    for (const part of root.querySelectorAll("[data-when]")) {
      if (empty(values[part.dataset.when])) part.remove();
      else part.removeAttribute("data-when");
    }
  };
  const entry = (mould, item) => {
    const made = mould.cloneNode(true);
    if (typeof item === "object" && !Array.isArray(item)) {
      fill(made, item);
      prune(made, item);
      return made;
    }
    const values = Array.isArray(item) ? item : [item];
    made.querySelectorAll("[data-item]").forEach((slot, at) => (slot.textContent = values[at]));
    return made;
  };

  // Texts of messages are named by their digests; the final turn has the reply of the question.
  const turns = (detail, texts) => {
    const text = (key) => (Object.hasOwn(texts, key) ? texts[key] : key);
    const final = { turn_reply: detail.reply, turn_reasoning: detail.reasoning, turn_reasoning_title: detail.reasoning_title };
    return detail.turns?.map((turn) => ({
      ...turn,
      turn_messages: turn.turn_messages?.map(([speaker, key]) => [speaker, text(key)]),
      turn_calls: turn.turn_calls?.map((call) => ({ ...call, call_result: call.call_result && text(call.call_result) })),
      ...(turn.turn_final && final),
    }));
  };

  const open = (item, row) => {
    const { texts, names, questions } = details();
    const detail = questions[row.at];
    const whole = { ...row, ...detail, prompt: detail.prompt.map((digest) => texts[digest]).join("") };
    whole.expected = detail.whole_expected ?? row.expected;
    whole.given = detail.whole_given ?? row.given;
    whole.turns = turns(detail, texts);
    whole.drawing = drawings()[detail.cluster];
    whole.pair = pairs()[row.at];
    ["expected", "given", "missing", "extra", "same", "broken"].forEach((part, at) => (whole[`pair_${part}`] = whole.pair?.[at]));
    fill(item.querySelector(".body"), whole);
    prune(item, whole);
    for (const button of item.querySelectorAll("[data-copy]")) {
      button.hidden = false;
      button.addEventListener("click", () => copy(button, button.parentElement.querySelector("pre")));
    }
    item.dispatchEvent(new CustomEvent("drawings", { bubbles: true, detail: { item, values: whole, names } }));
  };

  // Without the clipboard, as in some browsers for files on disk, the text is selected, and an older command copies it.
  const copy = async (button, place) => {
    let done = true;
    try {
      await navigator.clipboard.writeText(place.textContent);
    } catch {
      getSelection().selectAllChildren(place);
      done = document.execCommand("copy");
    }
    button.textContent = done ? "Copied" : "Selected";
    get("copied").textContent = done ? "Copied" : "The text is selected";
    setTimeout(() => (button.textContent = "Copy"), 2000);
  };

  const permalink = (row) => `#question=${encodeURIComponent(row.id)}&model=${encodeURIComponent(row.model)}`;
  const shown = (row) => {
    const item = get("mould").content.firstElementChild.cloneNode(true);
    const [link, question] = [item.querySelector(".permalink"), item.querySelector(".question")];
    fill(item.querySelector("summary"), { who: row.model, ...row });
    item.querySelector(".outcome").classList.add(row.outcome);
    link.setAttribute("href", permalink(row));
    link.setAttribute("aria-label", `Link to ${row.id}, ${row.who ?? row.model}`);
    question.addEventListener("toggle", () => open(item, row), { once: true });
    return item;
  };

  // The grid has a row for each question and a column for each model and prompt; a cell opens the question in a dialog.
  const made = (name, properties = {}, ...inside) => {
    const element = Object.assign(document.createElement(name), properties);
    element.append(...inside);
    return element;
  };
  const cell = (row) => {
    if (!row) return made("td", {}, "-");
    const [text, title] = row.outcome === "graded" ? [row.score, "graded"] : [row.outcome, row.score && `score ${row.score}`];
    const button = made("button", { type: "button", className: `outcome ${row.outcome}`, title, ariaHasPopup: "dialog" }, text);
    button.dataset.at = row.at;
    return made("td", {}, button);
  };
  const breaking = (name) => made("bdi", {}, ...name.split(/(?<=[_:/])/).flatMap((part) => [part, made("wbr")]));
  const heading = ([, prompt, who]) => made("th", { scope: "col", className: "model" }, breaking(who), ...(prompt ? [", ", breaking(prompt)] : []));
  const fill_grid = (some) => {
    const value = (name) => selects.find((one) => one.dataset.filter === name)?.value;
    const fit = ([model, prompt]) => [model, ""].includes(value("model") ?? "") && [prompt, ""].includes(value("prompt_template") ?? "");
    const columns = grid.columns.map((column, at) => [column, at + 1]).filter(([column]) => fit(column));
    const body = some.map((line) => {
      const { text } = rows[line.find((at, place) => place && at >= 0)];
      const asked = made("bdi", { className: "asked", title: text }, text);
      const head = made("th", { scope: "row" }, made("bdi", { className: "id" }, line[0]), asked);
      return made("tr", {}, head, ...columns.map(([, at]) => cell(rows[line[at]])));
    });
    const head = made("tr", {}, made("th", { scope: "col" }, "question"), ...columns.map(([column]) => heading(column)));
    get("grid").firstElementChild.replaceChildren(made("thead", {}, head), made("tbody", {}, ...body));
    get("grid").scrollTo(0, 0);
  };
  const peek = (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    const item = shown(rows[button.dataset.at]);
    get("opened").lastElementChild.replaceChildren(item);
    item.querySelector(".question").open = true;
    get("opened").showModal();
  };

  const show = () => {
    const first = page * PAGE;
    const by_model = view === "models";
    const all = by_model ? lines : chosen;
    const some = all.slice(first, first + PAGE);
    if (by_model) fill_grid(some);
    else get("list").replaceChildren(...some.map(shown));
    get("list").start = first + 1;
    get("list").hidden = by_model;
    if (grid) get("grid").hidden = !by_model;
    for (const one of document.querySelectorAll("[data-view]")) one.setAttribute("aria-pressed", one.dataset.view === view);
    const pages = Math.max(1, Math.ceil(all.length / PAGE));
    get("pages").hidden = pages === 1;
    get("page").textContent = `Page ${page + 1} of ${pages}`;
    get("back").disabled = page === 0;
    get("on").disabled = page === pages - 1;
    const whole = by_model ? grid.rows.length : rows.length;
    const of = all.length === whole ? "" : ` of ${number(whole)}`;
    const what = by_model ? "questions; a cell opens the question" : "questions and replies";
    get("count").textContent = `${number(all.length)}${of} ${what}; what is not right comes first.`;
  };

  const searched = once(() => {
    const { questions } = details();
    return rows.map((row) =>
      [row.id, row.text, row.expected, row.given, questions[row.at].reply, questions[row.at].error].join("\n").toLowerCase(),
    );
  });
  const fits = (row, name, value) =>
    value === "" || row[name] === value || (value === "not right" && !["right", "graded", "skipped"].includes(row.outcome));
  const apply = (to = 0) => {
    const word = search.value.trim().toLowerCase();
    chosen = rows.filter(
      (row) => selects.every((one) => fits(row, one.dataset.filter, one.value)) && (!word || searched()[row.at].includes(word)),
    );
    const kept = new Set(chosen.map((row) => row.at));
    lines = grid ? grid.rows.filter((line) => line.some((at) => kept.has(at))) : [];
    page = Math.max(0, Math.min(to, Math.ceil((view === "models" ? lines : chosen).length / PAGE) - 1)) || 0;
    show();
  };
  const reset = () => {
    for (const one of selects) one.value = "";
    search.value = "";
  };

  // The address says what is chosen, so that it can be kept and sent, and going back returns to it.
  const address = () => {
    const chosen_values = selects.map((one) => [one.dataset.filter, one.value]);
    const values = [["view", view === "list" ? "" : view], ...chosen_values, ["search", search.value.trim()], ["page", page ? String(page + 1) : ""]];
    const given = values.filter(([, value]) => value).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
    return given.length ? `#show:${given.join("&")}` : "#questions";
  };
  const choose = () => {
    apply();
    history.replaceState(null, "", address());
  };
  const turn = (by) => {
    page += by;
    show();
    history.pushState(null, "", address());
    get("questions-title").focus();
  };

  // #show:group=next_tasks&page=2 chooses filters and a page.
  const choose_by = (values) => {
    reset();
    view = grid && values.get("view") === "models" ? "models" : "list";
    let to = 0;
    for (const [name, value] of values) {
      const control = name === "search" ? search : selects.find((one) => one.dataset.filter === name);
      if (control) control.value = value;
      if (name === "page") to = parseInt(value, 10) - 1;
    }
    apply(to);
    get("questions-title").focus();
  };

  // #question=ID&model=NAME opens a question, whatever is chosen.
  const reveal = (values) => {
    const [id, model] = [values.get("question"), values.get("model")];
    const row = rows.find((one) => one.id === id && (model === null || one.model === model));
    if (!row) {
      get("count").textContent = `This report has no question ${id}${model === null ? "" : ` of ${model}`}.`;
      get("questions-title").focus();
      return;
    }
    if (!chosen.includes(row)) {
      reset();
      chosen = rows;
      page = -1;
    }
    if (view !== "list") page = -1;
    view = "list";
    const at = chosen.indexOf(row);
    if (Math.floor(at / PAGE) !== page) {
      page = Math.floor(at / PAGE);
      show();
    }
    const question = get("list").children[at % PAGE].querySelector(".question");
    question.open = true;
    question.scrollIntoView();
    question.querySelector("summary").focus({ preventScroll: true });
  };

  const follow = () => {
    const { hash } = location;
    get("opened")?.close();
    if (hash.startsWith("#show:")) choose_by(new URLSearchParams(hash.slice("#show:".length)));
    if (hash.startsWith("#question=")) reveal(new URLSearchParams(hash.slice(1)));
  };

  // Arrow keys on the line of a question go to the next one, as in other lists.
  const step = (event) => {
    const lines = [...get("list").querySelectorAll(".question > summary")];
    const at = lines.indexOf(event.target);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: lines.length - 1 }[event.key];
    if (at < 0 || !lines[to] || event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    lines[to].focus();
  };

  // An opened question prints whole.
  let unfolded = [];
  const unfold = () => {
    unfolded = [...document.querySelectorAll(".question[open] details:not([open])")];
    for (const one of unfolded) one.open = true;
  };
  const fold = () => {
    for (const one of unfolded) one.open = false;
    unfolded = [];
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
  get("list").addEventListener("keydown", step);
  get("grid")?.addEventListener("click", peek);
  get("opened")?.firstElementChild.addEventListener("click", () => get("opened").close());
  for (const one of document.querySelectorAll("[data-view]"))
    one.addEventListener("click", () => {
      view = one.dataset.view;
      apply();
      history.pushState(null, "", address());
    });
  if (grid) get("views").hidden = false;
  addEventListener("beforeprint", unfold);
  addEventListener("afterprint", fold);
  addEventListener("hashchange", follow);
  get("filters").hidden = false;
  apply();
  follow();
})();
