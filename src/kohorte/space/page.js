"use strict";
// Adds to the page: a tooltip for the node under the mouse or the keyboard; the neighbours of any node, by a click or Enter.
// Numbers are written as kohorte/in_words.py writes them.
(() => {
  const space = JSON.parse(document.getElementById("space").textContent);
  const { names, shape, cells } = space;
  const tip = document.getElementById("tip");
  const drawing = document.getElementById("drawing");
  const steps = document.getElementById("steps");
  const around = document.getElementById("around");
  const titleOfMiddle = around.textContent;
  const rowsOfMiddle = [...steps.children];

  const whole = (number) => number.toLocaleString("en-US");
  const counted = (number, [one, many]) => `${whole(number)} ${number === 1 ? one : many}`;
  const rows = (number) => counted(number, ["row", "rows"]);

  function number(value, digits) {
    const decimals = value === 0 ? 0 : digits - 1 - Math.floor(Math.log10(Math.abs(value)));
    return value.toLocaleString("en-US", { maximumFractionDigits: Math.min(Math.max(decimals, 0), 20) });
  }

  const figure = (cost) => number(cost, 6);

  function percent(share) {
    if (share > 0 && share < 1 && Number((100 * share).toPrecision(3)) >= 100) return "over 99.9\u00a0%";
    return `${number(100 * share, 3)}\u00a0%`;
  }

  // The place of a node on each axis; its level in the hierarchy is `lowest` higher.
  function places(index) {
    const found = [];
    for (let axis = shape.length - 1; axis >= 0; axis--) {
      found.unshift(index % shape[axis]);
      index = Math.floor(index / shape[axis]);
    }
    return found;
  }

  const stride = (axis) => shape.slice(axis + 1).reduce((product, length) => product * length, 1);

  function more(cost) {
    const best = space.cost[space.middle];
    if (cost === best) return "the same";
    return best > 0 ? `+${percent(cost / best - 1)}` : `+${figure(cost - best)}`;
  }

  function verdict(index) {
    const cost = space.cost[index];
    const gone = space.suppressed[index];
    if (cost === null) {
      return `not a solution, ${space.at_least}${rows(gone)} would have to be suppressed (limit ${whole(space.limit)})`;
    }
    const share = percent(gone / space.rows);
    const what = index === space.middle ? "the optimum" : "solution";
    const than = index === space.middle ? "" : ` (${more(cost)})`;
    const least = space.smallest[index];
    const smallest = least === null ? "" : `, ${space.smallest_head} ${counted(least, space.unit)}`;
    return `${what}, ${space.metric} ${figure(cost)}${than}, ${rows(gone)} suppressed (${share})${smallest}`;
  }

  const named = (index) => places(index).map((place, axis) => `${names[axis]}: ${space.meanings[axis][place]}`).join("; ");

  function element(kind, text, name = "") {
    const made = document.createElement(kind);
    made.textContent = text;
    made.className = name;
    return made;
  }

  function side(index, axis, step) {
    const before = places(index)[axis];
    const place = before + step;
    if (place < 0 || place >= shape[axis]) return element("td", "no further level", "none");
    const other = index + step * stride(axis);
    const solved = space.cost[other] !== null;
    const cell = element("td", "", solved ? "yes" : "no");
    const words = space.short_meanings[axis];
    const text = ` ${names[axis]}: ${words[before]} → ${words[place]}: ${verdict(other)}`;
    cell.append(element("b", solved ? "✓" : "✗"), text);
    return cell;
  }

  function choose(index) {
    if (index === space.middle) {
      around.textContent = titleOfMiddle;
      steps.replaceChildren(...rowsOfMiddle);
      return;
    }
    around.textContent = `One step away from ${named(index)} (${verdict(index)})`;
    const back = element("button", space.solved ? "back to the optimum" : "back");
    back.addEventListener("click", () => choose(space.middle));
    around.append(back);
    const found = places(index);
    steps.replaceChildren(...names.map((name, axis) => {
      const row = document.createElement("tr");
      const head = element("th", name);
      const level = space.lowest[axis] + found[axis];
      const top = space.lowest[axis] + shape[axis] - 1;
      const gauge = element("span", "■".repeat(level) + "□".repeat(top - level), "gauge-text");
      gauge.setAttribute("aria-hidden", "true");
      const told = element("span", "", "level");
      told.append(gauge, ` ${space.meanings[axis][found[axis]]}`);
      head.scope = "row";
      head.append(told);
      row.append(side(index, axis, -1), head, side(index, axis, 1));
      return row;
    }));
  }

  function under(event) {
    const own = event.target.closest("[data-node]");
    if (own) return Number(own.dataset.node);
    if (!cells.bands) return null;
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(drawing.getScreenCTM().inverse());
    const column = Math.floor((at.x - cells.left) / cells.pitch);
    if (column < 0 || column >= cells.across) return null;
    for (const [top, start, count] of cells.bands) {
      const place = Math.floor((at.y - top) / cells.pitch) * cells.across + column;
      if (at.y >= top && place < count) return cells.order[start + place];
    }
    return null;
  }

  function tell(index, how, x, y) {
    tip.hidden = false;
    tip.textContent = `${named(index)}: ${verdict(index)}. ${how} for its neighbours.`;
    tip.style.left = `${Math.max(8, Math.min(x + 14, innerWidth - 340))}px`;
    tip.style.top = `${Math.min(y + 16, innerHeight - tip.offsetHeight - 8)}px`;
  }

  function show(event) {
    const index = under(event);
    tip.hidden = index === null;
    drawing.classList.toggle("live", index !== null);
    if (index !== null) tell(index, "Click", event.clientX, event.clientY);
  }

  // The keyboard: one node has the focus; arrow keys move it to the next one in its row, or to the row above or below.
  const centre = (box) => [box.x + box.width / 2, box.y + box.height / 2];

  function nearest(nodes, from, key) {
    const box = (node) => node.querySelector("rect").getBBox();
    const [x, y] = centre(box(from));
    const across = key === "ArrowLeft" || key === "ArrowRight";
    const forward = key === "ArrowRight" || key === "ArrowDown" ? 1 : -1;
    let found = null, least = Infinity;
    for (const node of nodes) {
      const [otherX, otherY] = centre(box(node));
      const [along, aside] = across ? [otherX - x, otherY - y] : [otherY - y, otherX - x];
      if (along * forward < 5 || (across && Math.abs(aside) > 20)) continue;
      const far = across ? along * forward : 1000 * Math.round(along * forward / 20) + Math.abs(aside);
      if (far < least) [found, least] = [node, far];
    }
    return found;
  }

  function place(index) {
    const order = cells.order.indexOf(index);
    const row = cells.bands.findIndex(([, start, count]) => order >= start && order < start + count);
    return [row, order - cells.bands[row][1]];
  }

  function beside(index, key) {
    const [row, at] = place(index);
    const [, start, count] = cells.bands[row];
    const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -cells.across, ArrowDown: cells.across }[key];
    if (at + step >= 0 && at + step < count) return cells.order[start + at + step];
    const other = cells.bands[row + Math.sign(step)];
    if (key === "ArrowLeft" || key === "ArrowRight" || !other) return null;
    const column = at % cells.across;
    const lines = Math.floor((other[2] - 1) / cells.across);
    const wanted = step > 0 ? column : lines * cells.across + column;
    return cells.order[other[1] + Math.min(wanted, other[2] - 1)];
  }

  function cursorAt(index) {
    const cursor = drawing.querySelector(".cursor") ?? document.createElementNS(drawing.namespaceURI, "rect");
    const [row, at] = place(index);
    const size = { x: cells.left + (at % cells.across) * cells.pitch - 1, width: cells.pitch + 1, height: cells.pitch + 1 };
    size.y = cells.bands[row][0] + Math.floor(at / cells.across) * cells.pitch - 1;
    const said = { class: "cursor", tabindex: 0, role: "img", "data-node": index, "aria-label": `${named(index)}: ${verdict(index)}` };
    for (const [name, value] of Object.entries({ ...size, ...said })) cursor.setAttribute(name, value);
    drawing.append(cursor);
    return cursor;
  }

  function moved(from, key) {
    if (key === "Home") return drawing.querySelector(`[data-node="${space.middle}"]:not(.cursor)`);
    if (!cells.bands) return nearest(drawing.querySelectorAll("g.node"), from, key);
    const index = beside(Number(from.dataset.node), key);
    return index === null ? null : cursorAt(index);
  }

  function pressed(event) {
    const node = event.target.closest("[data-node]");
    if (!node) return;
    if (event.key === "Enter" || event.key === " ") choose(Number(node.dataset.node));
    else if (event.key.startsWith("Arrow") || event.key === "Home") moved(node, event.key)?.focus();
    else return;
    event.preventDefault();
  }

  function focused(event) {
    const node = event.target.closest("[data-node]");
    if (!node) return;
    if (!cells.bands) {
      for (const other of drawing.querySelectorAll('g.node[tabindex="0"]')) other.setAttribute("tabindex", -1);
      node.setAttribute("tabindex", 0);
    }
    const box = node.getBoundingClientRect();
    tell(Number(node.dataset.node), "Enter", box.right, box.bottom);
  }

  for (const title of drawing.querySelectorAll("g title, path title, rect title")) title.remove();
  for (const node of drawing.querySelectorAll("g.node")) node.setAttribute("tabindex", Number(node.dataset.node) === space.middle ? 0 : -1);
  around.setAttribute("aria-live", "polite");
  drawing.addEventListener("keydown", pressed);
  drawing.addEventListener("focusin", focused);
  drawing.addEventListener("focusout", () => { tip.hidden = true; });
  drawing.addEventListener("mousemove", show);
  drawing.addEventListener("mouseleave", () => { tip.hidden = true; });
  drawing.addEventListener("click", (event) => {
    const index = under(event);
    if (index !== null) choose(index);
  });
  for (const row of document.querySelectorAll(".best tbody tr")) {
    row.tabIndex = 0;
    row.title = "show the neighbours of this one";
    row.addEventListener("click", () => choose(Number(row.dataset.node)));
    row.addEventListener("keydown", (event) => { if (event.key === "Enter") row.click(); });
  }
})();
