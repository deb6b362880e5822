"use strict";
/* Tables are sorted by their heads, and a link opens what it points into. */
{
  const said = cell => (cell.dataset.sort ?? cell.textContent).trim().replaceAll("\u2212", "-");
  const number = text => { const found = /^[+-]?(\d[\d,]*\.?\d*|\.\d+)(e[+-]?\d+)?/i.exec(text); return found === null ? NaN : Number(found[0].replaceAll(",", "")); };
  function order(rows, k) {
    const texts = new Map(rows.map(row => [row, said(row.cells[k])])), filled = rows.filter(row => !["", "–", "-"].includes(texts.get(row)));
    const counted = filled.every(row => !Number.isNaN(number(texts.get(row))));
    const compare = (a, b) => counted ? number(a) - number(b) : a.localeCompare(b, "en", {numeric: true});
    return [filled.sort((a, b) => compare(texts.get(a), texts.get(b))), rows.filter(row => !filled.includes(row))];
  }
  function sort(head) {
    const table = head.closest("table"), down = head.getAttribute("aria-sort") === "ascending";
    for (const other of head.parentElement.cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const [known, empty] = order([...table.tBodies[0].rows], head.cellIndex);
    table.tBodies[0].append(...(down ? known.reverse() : known), ...empty);
  }
  function sortable(table) {
    const heads = table.tHead?.rows ?? [], rows = [...(table.tBodies[0]?.rows ?? [])];
    return heads.length === 1 && rows.length > 2 && rows.every(row => row.cells.length === heads[0].cells.length && [...row.cells].every(cell => cell.colSpan === 1));
  }
  for (const table of document.querySelectorAll("table")) if (sortable(table)) for (const head of table.tHead.rows[0].cells) {
    if (head.textContent.trim() === "") continue;
    const button = document.createElement("button");
    button.type = "button"; button.className = "sorts";
    button.append(...head.childNodes); head.append(button);
    button.addEventListener("click", () => sort(head));
  }
  /* What scrolls sideways can be reached by keys. */
  function reachable() {
    for (const box of document.querySelectorAll(".scroll, pre")) if (box.scrollWidth > box.clientWidth || box.scrollHeight > box.clientHeight) box.tabIndex = 0;
  }
  addEventListener("resize", reachable);
  document.addEventListener("toggle", reachable, true);
  reachable();
  function reveal() {
    const target = document.getElementById(location.hash.slice(1));
    for (let at = target; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
    target?.scrollIntoView();
  }
  addEventListener("hashchange", reveal);
  addEventListener("beforeprint", () => { for (const each of document.querySelectorAll("details")) each.open = true; });
  reveal();
}
