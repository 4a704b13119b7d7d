"use strict";
(() => {
  if (!document.getElementById("index")) return; // no question was asked
  const [MOST_MARKS, LONGEST_TEXT, LONGEST_NAME, MOST_BUTTONS] = [2000, 1_000_000, 200, 60];
  const SIGNS = { missing: "−", extra: "+", concerned: "!", expected: "✓", other: "" };

  let unpacked;
  const unpack = async (base64) => {
    const bytes = Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return JSON.parse(await new Response(stream).text());
  };
  const tables = (packed) => (unpacked ??= unpack(packed));

  // One expression for all names, written as the tree of their letters: a text is read once, however many names there
  // are, and the longest name wins.
  const grow = (words) => {
    const root = new Map();
    for (const word of words) {
      let node = root;
      for (const char of word) {
        if (!node.has(char)) node.set(char, new Map());
        node = node.get(char);
      }
      node.set("", null);
    }
    return root;
  };
  const write = (node) => {
    const branches = [...node].filter(([char]) => char).map(([char, next]) => char.replace(/[\\^$.*+?()[\]{}|/]/, "\\$&") + write(next));
    if (!branches.length) return "";
    if (!node.has("")) return branches.length === 1 ? branches[0] : `(?:${branches.join("|")})`;
    return `(?:${branches.join("|")})?`;
  };
  const expression = (words) => new RegExp(`(?<![\\p{L}\\p{N}_])${write(grow(words))}(?![\\p{L}\\p{N}_])`, "gu");

  const places = (text, names) => [...limited(text.slice(0, LONGEST_TEXT).matchAll(names.expression))];
  const limited = function* (found) {
    let left = MOST_MARKS;
    for (const one of found) if (left-- > 0) yield one;
    else return;
  };

  // Texts of models are hostile: they stay text nodes, inside marks or between them.
  const mark = (place, names, kinds) => {
    const text = place.textContent;
    const parts = [];
    let from = 0;
    for (const found of places(text, names)) {
      const element = document.createElement("mark");
      const name = names.numbers.get(found[0]);
      element.textContent = found[0];
      element.dataset.name = name;
      element.className = kinds[name];
      parts.push(text.slice(from, found.index), element);
      from = found.index + found[0].length;
    }
    if (parts.length) place.replaceChildren(...parts, text.slice(from));
  };

  // Names of the expected answer, of the given one, and of neither. A name that the score counts as missing is missing,
  // wherever else the answer holds it; where no answer could be parsed, all expected names are. A wrong answer that has just the expected names is
  // wrong in another way, such as in their order: then those that the reasons name stand out.
  const kinds_of = (values, names) => {
    const among = (text) => new Set(places(text ?? "", names).map(([word]) => names.numbers.get(word)));
    const [expected, given] = [among(values.expected), among(values.given)];
    const missing = new Set(values.missing?.map((name) => names.numbers.get(name)));
    const kinds = names.list.map((_, at) => {
      if (expected.has(at)) return values.error ? "other" : given.has(at) && !missing.has(at) ? "expected" : "missing";
      return given.has(at) ? "extra" : "other";
    });
    if (values.outcome === "right" || !values.given || kinds.includes("missing") || kinds.includes("extra")) return kinds;
    const concerned = among(values.why?.join("\n"));
    return kinds.map((_, at) => (concerned.has(at) ? "concerned" : "other"));
  };

  const read_names = (table, values) => {
    const list = [...table, ...[...(values.missing ?? []), ...(values.extra ?? [])].filter((name) => name.length <= LONGEST_NAME).map((name) => [name])];
    const numbers = new Map();
    list.forEach((words, at) => words.forEach((word) => word && !numbers.has(word) && numbers.set(word, at)));
    return numbers.size ? { list, numbers, expression: expression(numbers.keys()) } : null;
  };

  const same = (item, name) => item.querySelectorAll(`mark[data-name="${name}"]`);
  const show = (item, name) => {
    const buttons = [...item.querySelectorAll(".finder button")];
    const off = same(item, name)[0]?.classList.contains("found");
    for (const one of item.querySelectorAll("mark.found")) one.classList.remove("found");
    for (const button of buttons) button.setAttribute("aria-pressed", !off && button.dataset.name === String(name));
    if (off) return;
    for (const one of same(item, name)) one.classList.add("found");
    for (const folded of item.querySelectorAll("details.copied")) folded.open ||= !!folded.querySelector("mark.found");
    for (const text of item.querySelectorAll("pre")) {
      const first = text.querySelector("mark.found");
      if (first) text.scrollTop += first.getBoundingClientRect().top - text.getBoundingClientRect().top - text.clientHeight / 3;
    }
  };

  const finder = (item, names, kinds) => {
    const place = item.querySelector(".finder");
    const counts = new Map();
    for (const { dataset } of item.querySelectorAll("mark")) counts.set(+dataset.name, (counts.get(+dataset.name) ?? 0) + 1);
    const rank = (name) => Object.keys(SIGNS).indexOf(kinds[name]);
    const listed = [...counts.keys()].sort((a, b) => rank(a) - rank(b) || a - b);
    const buttons = listed.slice(0, MOST_BUTTONS).map((name) => {
      const [line, button] = [document.createElement("li"), document.createElement("button")];
      button.type = "button";
      button.dataset.name = name;
      button.className = kinds[name];
      button.setAttribute("aria-pressed", "false");
      button.textContent = `${SIGNS[kinds[name]]} ${names.list[name][0]} (${counts.get(name)})`.trim();
      button.addEventListener("click", () => show(item, name));
      line.append(button);
      return line;
    });
    place.querySelector("ul").replaceChildren(...buttons);
    place.hidden = !buttons.length;
  };

  // The script of the questions says when one is opened.
  document.addEventListener("drawings", async (event) => {
    const { item, values, names: packed } = event.detail;
    const body = item.querySelector(".body");
    try {
      const names = read_names((await tables(packed))[values.names] ?? [], values);
      if (!names) return;
      const kinds = kinds_of(values, names);
      for (const place of body.querySelectorAll("[data-names]")) mark(place, names, kinds);
      finder(item, names, kinds);
    } catch {
      return; // a browser without these parts of the language shows the texts without marks
    }
    const hover = (on) => (moved) => {
      const { name } = moved.target.dataset ?? {};
      if (moved.target.localName === "mark") for (const one of same(item, name)) one.classList.toggle("same", on);
    };
    body.addEventListener("mouseover", hover(true));
    body.addEventListener("mouseout", hover(false));
    body.addEventListener("click", (moved) => moved.target.localName === "mark" && getSelection().isCollapsed && show(item, moved.target.dataset.name));
  });
})();
