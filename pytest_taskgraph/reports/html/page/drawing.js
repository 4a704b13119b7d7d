"use strict";
(() => {
  if (!document.getElementById("tools")) return; // nothing is drawn
  const [SMALLEST, LARGEST, STEP] = [0.05, 6, 1.25];

  const inflate = async (base64) => {
    const bytes = Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Response(stream).text();
  };
  const draw = async (place, base64) => {
    try {
      const drawn = new DOMParser().parseFromString(await inflate(base64), "image/svg+xml");
      place.replaceChildren(document.importNode(drawn.documentElement, true));
    } catch {
      place.textContent = "This browser cannot unpack the drawing.";
    }
  };

  // Marks an answer as reports/drawing/marks.py does: a class for line and colour, signs, words in titles and description.
  const element = (name, attributes, ...inside) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...inside);
    return made;
  };
  const words = ({ words }, tag) => (tag ? `${words} (${tag})` : words);
  const badge = (look, tag, x, y) => {
    const width = 12 + (tag ? 6.5 * tag.length + 3 : 0);
    const back = tag ? element("rect", { class: "o", x: -6, y: -6, width, height: 12, rx: 6 }) : element("circle", { class: "o", r: 6 });
    const text = tag ? [element("text", { class: "t", x: 7, y: 3.5 }, tag)] : [];
    return element("g", { transform: `translate(${x} ${y})` }, back, element("path", { class: "p", d: look.path }), ...text);
  };
  // A link is its line, the head of its arrow, and its label if it has one.
  const link_group = (line) => {
    const group = element("g", {});
    const parts = [line, line.nextElementSibling, line.nextElementSibling.nextElementSibling];
    line.before(group);
    group.append(...parts.filter((part) => part && (part === line || part.matches(".a, .l"))));
    return group;
  };
  const mark = (svg, key, { nodes = [], links = [] }) => {
    const entries = [...key.querySelectorAll("[data-look]")];
    const looks = new Map(
      entries.map((one) => [one.dataset.look, { path: one.querySelector(".p").getAttribute("d"), words: one.querySelector("span").textContent, names: [], links: 0 }]),
    );
    const place = new Map(); // where the next sign of a node stands
    for (const [number, code, tag = ""] of nodes) {
      const group = svg.querySelector(`[data-n="${number}"]`);
      const look = looks.get(code);
      if (!group || !look) continue;
      const title = group.querySelector("title");
      if (!place.has(number)) {
        const box = group.querySelector(".n, .g").getBBox();
        const inset = group.querySelector(".k") ? 7 : 0; // the corner of a diamond is empty
        place.set(number, { x: box.x + 2 + inset, y: box.y - 1 + inset, name: title.textContent });
        group.setAttribute("class", code);
        title.textContent += title.textContent ? ": " : "";
      } else title.textContent += "; ";
      const at = place.get(number);
      title.textContent += words(look, tag);
      group.append(badge(look, tag, at.x, at.y));
      at.x += 14 + (tag ? 6.5 * tag.length + 3 : 0);
      look.names.push(tag ? `${at.name} (${tag})` : at.name);
    }
    for (const [number, code] of links) {
      const line = svg.querySelector(`[data-e="${number}"]`);
      const look = looks.get(code);
      if (!line || !look) continue;
      const middle = line.getPointAtLength(line.getTotalLength() / 2);
      const group = link_group(line);
      group.setAttribute("class", code);
      group.prepend(element("title", {}, look.words));
      group.append(badge(look, "", middle.x, middle.y));
      look.links += 1;
    }
    const count = (of, noun) => (of ? [`${of.toLocaleString("en")} ${noun}${of === 1 ? "" : "s"}`] : []);
    const sentences = [];
    for (const one of entries) {
      const look = looks.get(one.dataset.look);
      const counts = [...count(look.names.length, "node"), ...count(look.links, "link")].join(", ");
      if (!counts) {
        one.remove();
        continue;
      }
      one.lastElementChild.textContent = counts;
      const [first, more] = [look.names.slice(0, 20).join(", "), look.names.length - 20];
      const named = (first && `: ${first}`) + (more > 0 ? `, and ${more} more` : "");
      sentences.push(`${look.words[0].toUpperCase()}${look.words.slice(1)}: ${counts}${named}.`);
    }
    const description = svg.querySelector("desc");
    description.textContent = [...sentences, description.textContent].join(" ");
  };

  // A view scrolls, so that touch, wheel and arrow keys move what is larger than it, and the page scrolls on at its end.
  const inner = (view) => view.clientWidth - 2 * parseFloat(getComputedStyle(view).paddingLeft);
  const natural = (svg) => svg.viewBox.baseVal.width;
  const scale = (svg) => svg.getBoundingClientRect().width / natural(svg);

  // The drawings of a pair zoom and scroll together: equal parts stand at the same place in both.
  const zoomable = (canvas) => {
    const views = [...canvas.querySelectorAll(".drawing")];
    const svgs = () => views.map((view) => view.querySelector("svg")).filter(Boolean);
    if (!svgs().length) return;
    const tools = document.getElementById("tools").content.firstElementChild.cloneNode(true);
    const report = () => {
      tools.querySelector("output").textContent = `${Math.round(100 * scale(svgs()[0]))} %`;
      const fit = views[0].dataset.fit;
      for (const one of tools.querySelectorAll("[data-zoom=width], [data-zoom=whole]")) one.setAttribute("aria-pressed", one.dataset.zoom === fit);
      for (const view of views) view.classList.toggle("larger", view.scrollWidth > view.clientWidth || view.scrollHeight > view.clientHeight);
    };
    const fit = (how) => {
      for (const view of views) view.dataset.fit = how;
      for (const svg of svgs()) svg.style.width = "";
      report();
    };
    // What stands under the point (of the view, in pixels) stays there.
    const zoom = (to, view = views[0], x = view.clientWidth / 2, y = view.clientHeight / 2) => {
      const before = scale(view.querySelector("svg") ?? svgs()[0]);
      const after = Math.min(LARGEST, Math.max(SMALLEST, to));
      const [left, top] = [view.scrollLeft, view.scrollTop];
      for (const one of views) one.dataset.fit = "none";
      for (const svg of svgs()) svg.style.width = `${after * natural(svg)}px`;
      for (const one of views) one.scrollTo(((left + x) * after) / before - x, ((top + y) * after) / before - y);
      report();
    };
    const by = (factor, ...where) => zoom(scale(svgs()[0]) * factor, ...where);
    const act = { in: () => by(STEP), out: () => by(1 / STEP), actual: () => zoom(1), width: () => fit("width"), whole: () => fit("whole") };
    const keys = { "+": "in", "=": "in", "-": "out", "−": "out", 0: "width", 9: "whole", 1: "actual" };
    for (const button of tools.querySelectorAll("button")) button.addEventListener("click", () => act[button.dataset.zoom]());
    for (const view of views) {
      view.addEventListener("keydown", (event) => {
        if (event.ctrlKey || event.metaKey || event.altKey || !Object.hasOwn(keys, event.key)) return;
        event.preventDefault();
        act[keys[event.key]]();
      });
      view.addEventListener(
        "wheel",
        (event) => {
          if (!event.ctrlKey) return; // the page scrolls
          event.preventDefault();
          const box = view.getBoundingClientRect();
          by(Math.exp(-event.deltaY / 300), view, event.clientX - box.left, event.clientY - box.top);
        },
        { passive: false },
      );
      view.addEventListener("scroll", () => {
        for (const other of views) {
          if (other !== view && other.scrollWidth === view.scrollWidth && other.scrollHeight === view.scrollHeight) other.scrollTo(view.scrollLeft, view.scrollTop);
        }
      });
      hold(view, by);
    }
    canvas.before(tools);
    new ResizeObserver(report).observe(views[0]);
    fit("whole");
  };

  // Dragging with the mouse moves the drawing; two fingers zoom it. One finger scrolls, as everywhere.
  const hold = (view, by) => {
    const fingers = new Map();
    const distance = () => {
      const [one, other] = [...fingers.values()];
      return Math.hypot(one.clientX - other.clientX, one.clientY - other.clientY);
    };
    view.addEventListener("pointerdown", (event) => {
      if (event.pointerType === "mouse" && event.button !== 0) return;
      const box = view.getBoundingClientRect();
      const on_bar = event.clientX - box.left > view.clientLeft + view.clientWidth || event.clientY - box.top > view.clientTop + view.clientHeight;
      if (on_bar) return;
      fingers.set(event.pointerId, event);
      if (event.pointerType !== "mouse") return;
      view.setPointerCapture(event.pointerId);
      view.classList.add("held");
    });
    view.addEventListener("pointermove", (event) => {
      const before = fingers.get(event.pointerId);
      if (!before) return;
      const apart = fingers.size === 2 ? distance() : 0;
      fingers.set(event.pointerId, event);
      if (apart) {
        const box = view.getBoundingClientRect();
        const [one, other] = [...fingers.values()];
        by(distance() / apart, view, (one.clientX + other.clientX) / 2 - box.left, (one.clientY + other.clientY) / 2 - box.top);
      } else if (event.pointerType === "mouse") view.scrollBy(before.clientX - event.clientX, before.clientY - event.clientY);
    });
    for (const end of ["pointerup", "pointercancel", "lostpointercapture"]) {
      view.addEventListener(end, (event) => {
        fingers.delete(event.pointerId);
        view.classList.remove("held");
      });
    }
  };

  // The script of the questions says when one is opened, with its compressed drawings by slot.
  document.addEventListener("drawings", async (event) => {
    const { item, values } = event.detail;
    for (const canvas of item.querySelectorAll("[data-canvas]")) {
      await Promise.all([...canvas.querySelectorAll("[data-drawing]")].map((place) => draw(place, values[place.dataset.drawing])));
      const [svg, key] = [canvas.querySelector("svg"), canvas.parentElement.querySelector("[data-looks]")];
      if (svg && key) mark(svg, key, values);
      zoomable(canvas);
    }
  });
})();
