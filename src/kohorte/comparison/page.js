"use strict";
// Lets the table be sorted by a click on a column; without it the table is sorted by cost.
(() => {
  const table = document.getElementById("figures");
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];

  function value(row, column) {
    const text = row.cells[column].dataset.value;
    const number = Number(text);
    return text === "" ? Infinity : Number.isNaN(number) ? text : number;
  }

  function sort(column) {
    const down = heads[column].getAttribute("aria-sort") === "ascending";
    const rows = [...body.rows].sort((one, other) => {
      const [a, b] = [value(one, column), value(other, column)];
      return (a < b ? -1 : a > b ? 1 : 0) * (down ? -1 : 1);
    });
    body.replaceChildren(...rows);
    heads.forEach((head) => head.removeAttribute("aria-sort"));
    heads[column].setAttribute("aria-sort", down ? "descending" : "ascending");
  }

  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    button.addEventListener("click", () => sort(column));
    head.replaceChildren(button);
  });
})();
