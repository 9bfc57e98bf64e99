
"use strict";
(() => {
  const table = document.getElementById("all");
  if (!table) return;
  const form = document.getElementById("filters");
  const shown = document.getElementById("shown");
  const text = document.getElementById("text");
  const action = document.getElementById("action");
  const signal = document.getElementById("signal");
  const body = table.tBodies[0];
  const rows = Array.from(body.rows);
  const whole = shown.textContent;
  const words = new Map(); // what a row says, in lower case, once it was asked for

  const says = (row) => {
    if (!words.has(row)) words.set(row, row.textContent.toLowerCase());
    return words.get(row);
  };
  const filter = () => {
    const wanted = text.value.trim().toLowerCase();
    let count = 0;
    for (const row of rows) {
      const isShown = (!action.value || row.dataset.action === action.value) &&
        (!signal.value || row.dataset.signals.split(" ").includes(signal.value)) &&
        (!wanted || says(row).includes(wanted));
      if (row.hidden === isShown) row.hidden = !isShown;
      if (isShown) count++;
    }
    shown.textContent = count === rows.length ? whole : `${count} of ${whole} shown`;
  };

  // Decimals are compared digit by digit: no number of the browser holds them exactly.
  const decimal = (a, b) => {
    const [wholeA, partA = ""] = a.split("."), [wholeB, partB = ""] = b.split(".");
    if (wholeA.length !== wholeB.length) return wholeA.length - wholeB.length;
    if (wholeA !== wholeB) return wholeA < wholeB ? -1 : 1;
    const length = Math.max(partA.length, partB.length);
    const a0 = partA.padEnd(length, "0"), b0 = partB.padEnd(length, "0");
    return a0 === b0 ? 0 : a0 < b0 ? -1 : 1;
  };
  const words2 = new Intl.Collator("en", { numeric: true }).compare;
  const amountColumn = 5, assetColumn = 6;
  const cell = (row, column) => row.cells[column].textContent;
  const sort = (column, direction) => {
    const keyed = rows.map((row, place) => ({ row, place, key: cell(row, column), asset: cell(row, assetColumn) }));
    const compare = column === amountColumn
      ? (a, b) => words2(a.asset, b.asset) || direction * decimal(a.key, b.key)
      : (a, b) => direction * words2(a.key, b.key);
    keyed.sort((a, b) => (direction ? compare(a, b) : 0) || a.place - b.place);
    const sorted = document.createDocumentFragment();
    for (const { row } of keyed) sorted.append(row);
    body.append(sorted);
  };

  const heads = Array.from(table.tHead.rows[0].cells);
  const directions = { none: "ascending", ascending: "descending", descending: "none" };
  const signs = { none: 0, ascending: 1, descending: -1 };
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    head.replaceChildren(button);
    head.setAttribute("aria-sort", "none");
    button.addEventListener("click", () => {
      const next = directions[head.getAttribute("aria-sort")];
      for (const other of heads) other.setAttribute("aria-sort", other === head ? next : "none");
      sort(column, signs[next]);
    });
  });

  let waiting = 0;
  text.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(filter, rows.length > 2000 ? 150 : 0);
  });
  action.addEventListener("change", filter);
  signal.addEventListener("change", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(filter));
  form.hidden = false;
})();
