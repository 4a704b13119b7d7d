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
    fit("width");
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
      zoomable(canvas);
    }
  });
})();
