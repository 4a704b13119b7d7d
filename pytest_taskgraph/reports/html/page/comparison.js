"use strict";
(() => {
  const filter = document.getElementById("flip-filter");
  if (!filter) return; // no comparison, or no question flipped
  const buttons = [...filter.querySelectorAll("button")];
  const items = [...document.getElementById("flips").children];
  const count = document.getElementById("flip-count");
  for (const button of buttons) {
    button.addEventListener("click", () => {
      const { direction } = button.dataset;
      for (const other of buttons) other.setAttribute("aria-pressed", String(other === button));
      let shown = 0;
      for (const item of items) {
        item.hidden = direction !== "" && item.dataset.direction !== direction;
        shown += !item.hidden;
      }
      count.textContent = `${shown.toLocaleString("en")} of ${items.length.toLocaleString("en")} that flipped are shown.`;
    });
  }
  filter.hidden = false;
})();
