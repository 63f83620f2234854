"use strict";
// The solution explorer: arrow keys and clicks choose a combination, and the server tells what it means.
// Without this file the buttons of the page do the same.
(() => {
  const form = document.getElementById("explore");
  const explored = document.getElementById("explored");
  let at = "";
  let cells = null;
  let index = 0;
  let asked = null;
  let waiting = null;

  const fields = (more) => {
    const body = new URLSearchParams(new FormData(form));
    for (const [name, value] of Object.entries(more)) if (value) body.set(name, value);
    return body;
  };

  // The levels of a node, as the form names them: the picture counts from the lowest level of each column.
  function named(number) {
    const levels = [];
    for (let axis = cells.shape.length - 1; axis >= 0; axis--) {
      levels.unshift((number % cells.shape[axis]) + cells.lowest[axis]);
      number = Math.floor(number / cells.shape[axis]);
    }
    return levels.join(".");
  }

  async function ask(more) {
    if (asked) asked.abort();
    asked = new AbortController();
    const answer = await fetch(explored.dataset.parts, { method: "POST", body: fields(more), signal: asked.signal });
    if (answer.redirected || answer.status === 401) {
      form.requestSubmit();
      return null;
    }
    return new DOMParser().parseFromString(await answer.text(), "text/html").body;
  }

  const quietly = (work) => work.catch((error) => { if (error.name !== "AbortError") explored.removeAttribute("aria-busy"); });

  // The picture and what is beside it; counted again and again until it is complete.
  async function show(more) {
    const picture = explored.querySelector(".picture");
    const focused = picture && picture === document.activeElement;
    const opened = explored.querySelector(".filters")?.open;
    explored.setAttribute("aria-busy", "true");
    const found = await ask({ at, ...more });
    if (!found) return;
    explored.replaceChildren(...found.childNodes);
    explored.removeAttribute("aria-busy");
    if (opened) explored.querySelector(".filters").open = true;
    begin();
    if (focused) explored.querySelector(".picture")?.focus();
    if (explored.querySelector("[data-complete=no]")) waiting = window.setTimeout(() => quietly(show({ again: "yes" })), 50);
  }

  // Only what is beside the picture: after each move.
  async function tell() {
    const found = await ask({ at, part: "beside" });
    if (!found) return;
    for (const part of ["[data-beside]", "[data-said]"]) {
      const now = explored.querySelector(part);
      const next = found.querySelector(part);
      if (now && next && part === "[data-said]") now.textContent = next.textContent;
      else if (now && next) now.replaceWith(next);
    }
    if (explored.querySelector("[data-complete=no]")) waiting = window.setTimeout(() => quietly(show({ again: "yes" })), 800);
  }

  function place(number) {
    const order = cells.order.indexOf(number);
    const row = cells.bands.findIndex(([, start, count]) => order >= start && order < start + count);
    return row < 0 ? null : [row, order - cells.bands[row][1]];
  }

  const SVG = "http://www.w3.org/2000/svg";

  function frame(number, kind) {
    const found = place(number);
    if (!found) return [];
    const [row, position] = found;
    const gap = kind === "ring" ? 2 : 1;
    const made = document.createElementNS(SVG, "rect");
    const size = cells.pitch - 1 + 2 * gap;
    const x = cells.left + (position % cells.across) * cells.pitch - gap;
    const y = cells.bands[row][0] + Math.floor(position / cells.across) * cells.pitch - gap;
    for (const [name, value] of Object.entries({ class: kind, x, y, width: size, height: size, rx: 2 })) made.setAttribute(name, value);
    return [made];
  }

  // Frames around the node that is looked at, and around those one step away.
  function mark() {
    const frames = [];
    let stride = 1;
    for (let axis = cells.shape.length - 1; axis >= 0; axis--) {
      const level = Math.floor(index / stride) % cells.shape[axis];
      if (level > 0) frames.push(...frame(index - stride, "beside"));
      if (level + 1 < cells.shape[axis]) frames.push(...frame(index + stride, "beside"));
      stride *= cells.shape[axis];
    }
    explored.querySelector(".frames").replaceChildren(...frames, ...frame(index, "ring"));
  }

  function choose(number) {
    if (number === null || number === undefined) return;
    index = number;
    at = named(number);
    mark();
    window.clearTimeout(waiting);
    waiting = window.setTimeout(() => quietly(tell()), 120);
  }

  function beside(key) {
    const found = place(index);
    if (!found) return cells.order[0];
    const [row, position] = found;
    const [, start, count] = cells.bands[row];
    const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -cells.across, ArrowDown: cells.across }[key];
    if (position + step >= 0 && position + step < count) return cells.order[start + position + step];
    const other = cells.bands[row + Math.sign(step)];
    if (key === "ArrowLeft" || key === "ArrowRight" || !other) return null;
    const column = position % cells.across;
    const last = Math.floor((other[2] - 1) / cells.across) * cells.across + column;
    return cells.order[other[1] + Math.min(step > 0 ? column : last, other[2] - 1)];
  }

  function under(event) {
    const drawing = explored.querySelector(".picture svg").getBoundingClientRect();
    const column = Math.floor((event.clientX - drawing.left - cells.left) / cells.pitch);
    if (column < 0 || column >= cells.across) return null;
    for (const [top, start, count] of cells.bands) {
      const position = Math.floor((event.clientY - drawing.top - top) / cells.pitch) * cells.across + column;
      if (event.clientY - drawing.top >= top && position < count) return cells.order[start + position];
    }
    return null;
  }

  function begin() {
    const picture = explored.querySelector(".picture");
    if (!picture) return;
    cells = JSON.parse(picture.dataset.cells);
    index = cells.at;
    picture.addEventListener("keydown", (event) => {
      if (event.key === "Home") choose(cells.best);
      else if (event.key.startsWith("Arrow")) choose(beside(event.key));
      else return;
      event.preventDefault();
    });
    picture.addEventListener("click", (event) => choose(under(event)));
  }

  // A step of the table, chosen by a click: answered without loading the page again.
  form.addEventListener("submit", (event) => {
    const button = event.submitter;
    if (!button || button.hasAttribute("formaction")) return;
    event.preventDefault();
    if (button.name === "at") at = button.value;
    window.clearTimeout(waiting);
    quietly(show({}).then(() => explored.querySelector("[data-beside] button")?.focus()));
  });
  form.addEventListener("change", (event) => {
    if (!event.target.closest(".filters")) return;
    window.clearTimeout(waiting);
    quietly(show({}));
  });

  begin();
  if (!cells && !explored.querySelector(".refused")) quietly(show({}));
  else if (explored.querySelector("[data-complete=no]")) quietly(show({ again: "yes" }));
})();
