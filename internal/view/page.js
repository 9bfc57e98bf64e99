
"use strict";
(() => {
  const form = document.getElementById("filters");
  if (!form) return;
  const shown = document.getElementById("shown");
  const text = document.getElementById("text");
  const choices = Array.from(form.querySelectorAll("select"));
  const rows = Array.from(document.querySelectorAll("table.rows > tbody > tr:not(.group)"));
  const whole = shown.textContent;

  // What is hidden with all of its rows: a group of a table, and the list that the table is.
  const groups = new Map();
  const groupsOf = (row) => {
    const body = row.parentNode;
    if (!groups.has(body)) {
      const list = [];
      for (let at = body.closest("[data-group]"); at; at = at.parentNode.closest("[data-group]")) list.push(at);
      groups.set(body, list);
    }
    return groups.get(body);
  };

  // Letters are found without their accents and case, numbers without their commas.
  const plain = (words) => words.toLowerCase().normalize("NFD").replace(/\p{M}|(?<=\d),(?=\d)/gu, "");
  const words = new Map(); // what a row and the heading of its group say, once it was asked for
  const headings = new Map();
  const heading = (body) => {
    if (!headings.has(body)) headings.set(body, plain(body.querySelector("tr.group")?.textContent ?? ""));
    return headings.get(body);
  };
  const says = (row) => {
    if (!words.has(row)) words.set(row, plain(row.textContent) + " " + heading(row.parentNode));
    return words.get(row);
  };
  const chosen = (row) => choices.every((choice) => !choice.value || (row.dataset[choice.id] ?? "").split(" ").includes(choice.value));
  const filter = () => {
    const wanted = plain(text.value.trim());
    const filled = new Set();
    let count = 0;
    for (const row of rows) {
      const isShown = chosen(row) && (!wanted || says(row).includes(wanted));
      if (row.hidden === isShown) row.hidden = !isShown;
      if (!isShown) continue;
      count++;
      for (const group of groupsOf(row)) filled.add(group);
    }
    for (const list of groups.values()) for (const group of list) group.hidden = !filled.has(group);
    shown.textContent = count === rows.length ? whole : `${count} of ${whole} shown`;
  };
  for (const row of rows) groupsOf(row);

  let waiting = 0;
  text.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(filter, rows.length > 2000 ? 150 : 0);
  });
  for (const choice of choices) choice.addEventListener("change", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(filter));
  form.hidden = false;

  const table = document.getElementById("all");
  if (!table) return;
  // Decimals are compared digit by digit: no number of the browser holds them exactly.
  const decimal = (a, b) => {
    const [wholeA, partA = ""] = a.split("."), [wholeB, partB = ""] = b.split(".");
    if (wholeA.length !== wholeB.length) return wholeA.length - wholeB.length;
    if (wholeA !== wholeB) return wholeA < wholeB ? -1 : 1;
    const length = Math.max(partA.length, partB.length);
    const a0 = partA.padEnd(length, "0"), b0 = partB.padEnd(length, "0");
    return a0 === b0 ? 0 : a0 < b0 ? -1 : 1;
  };
  const collate = new Intl.Collator("en", { numeric: true }).compare;
  const amountColumn = 3, assetColumn = 4;
  const bodies = Array.from(table.tBodies);
  const places = new Map(bodies.map((body) => [body, Array.from(body.rows)]));

  // A row stays below the heading of its group, which says what the row does not: groups are put in
  // the order of their first rows.
  const sort = (column, direction) => {
    const keyed = (row, place) => ({ row, place, key: row.cells[column].textContent, asset: row.cells[assetColumn].textContent });
    const compare = column === amountColumn
      ? (a, b) => collate(a.asset, b.asset) || direction * decimal(a.key, b.key)
      : (a, b) => direction * collate(a.key, b.key);
    const inOrder = (a, b) => (direction ? compare(a, b) : 0) || a.place - b.place;
    const sorted = bodies.map((body, place) => {
      const [head, ...rest] = places.get(body)[0].classList.contains("group") ? places.get(body) : [null, ...places.get(body)];
      const list = rest.map(keyed).sort(inOrder);
      const fragment = document.createDocumentFragment();
      if (head) fragment.append(head);
      for (const { row } of list) fragment.append(row);
      body.append(fragment);
      return { ...list[0], body, place };
    });
    sorted.sort(inOrder);
    for (const { body } of sorted) table.append(body);
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
})();
