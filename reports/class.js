// Numgrade's pages, version 1.
"use strict";
{
  const tools = document.getElementById("tools");
  const live = document.getElementById("live");
  const search = document.getElementById("search");
  const show = document.getElementById("show");
  const collator = new Intl.Collator(document.documentElement.lang, { numeric: true, sensitivity: "base" });
  const filled = (text, values) => text.replace(/\{(\w+)\}/g, (whole, name) => name in values ? values[name] : whole);

  // Long tables are laid out bit by bit while nothing else happens, and anew after they were sorted.
  const BIT = 50;
  const idle = window.requestIdleCallback ?? (act => setTimeout(act, 20));
  let turn = 0;
  const lay = waiting => {
    const mine = ++turn;
    for (const row of waiting) row.classList.remove("laid");
    const step = from => {
      if (mine !== turn || from >= waiting.length) return;
      for (const row of waiting.slice(from, from + BIT)) row.classList.add("laid");
      requestAnimationFrame(() => idle(() => step(from + BIT)));
    };
    idle(() => step(0));
  };

  const keyOf = (row, column, number) => {
    const cell = row.cells[column];
    const text = cell.dataset.k ?? cell.textContent.trim();
    return number ? (text === "" || isNaN(text) ? null : Number(text)) : text;
  };

  // What has no value comes last, whichever way the others stand; equal ones keep the order that they had.
  const order = (sign, number) => ([a], [b]) => {
    const none = (b === null || b === "") - (a === null || a === "");
    if (none) return -none;
    return sign * (number ? a - b : collator.compare(a, b));
  };

  const sort = (table, head, column) => {
    const number = head.hasAttribute("data-number");
    const before = head.getAttribute("aria-sort");
    const up = before ? before === "descending" : !number;
    const body = table.tBodies[0];
    const keyed = Array.from(body.rows, row => [keyOf(row, column, number), row]);
    keyed.sort(order(up ? 1 : -1, number));
    const sorted = keyed.map(([, row]) => row);
    if (table.classList.contains("long")) lay(sorted);
    body.replaceChildren(...sorted);
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    live.textContent = filled(up ? tools.dataset.up : tools.dataset.down, { column: head.textContent.trim() });
  };

  for (const table of document.querySelectorAll("table.sorts")) {
    Array.from(table.tHead.rows[0].cells).forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      button.addEventListener("click", () => sort(table, head, column));
      head.append(button);
    });
  }

  const plain = text => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
  const rows = Array.from(document.getElementById("students").tBodies[0].rows, row => ({ row, text: null }));

  const filter = () => {
    const wanted = plain(search.value).split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const one of rows) {
      let fits = !show.value || one.row.dataset.is.split(" ").includes(show.value);
      if (fits && wanted.length) {
        one.text ??= plain(one.row.textContent);
        fits = wanted.every(word => one.text.includes(word));
      }
      if (one.row.hidden === fits) one.row.hidden = !fits;
      shown += fits;
    }
    live.textContent = filled(tools.dataset.shown, { shown, all: rows.length })
      + (shown ? "" : " " + tools.dataset.nobody);
  };

  search.addEventListener("input", filter);
  show.addEventListener("change", filter);
  tools.hidden = false;
  // A page that is gone back to keeps what was typed into it.
  filter();
  for (const table of document.querySelectorAll("table.long")) lay(Array.from(table.tBodies[0].rows));
}
