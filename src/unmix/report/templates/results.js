"use strict";
const value = (row, k) => row.cells[k].dataset.sort ?? row.cells[k].textContent.trim();
function compare(a, b) {
  if (a === "" || b === "") return a === b ? 0 : a === "" ? 1 : -1;
  const x = Number(a), y = Number(b);
  return Number.isNaN(x) || Number.isNaN(y) ? a.localeCompare(b, "en", { numeric: true }) : x - y;
}
function sort(header) {
  const table = header.closest("table"), k = header.cellIndex;
  const down = header.getAttribute("aria-sort") === "ascending";
  for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
  header.setAttribute("aria-sort", down ? "descending" : "ascending");
  const rows = [...table.tBodies[0].rows], filled = row => value(row, k) !== "";
  const known = rows.filter(filled).sort((a, b) => (down ? -1 : 1) * compare(value(a, k), value(b, k)));
  table.tBodies[0].append(...known, ...rows.filter(row => !filled(row)));
}
for (const button of document.querySelectorAll("th button"))
  button.addEventListener("click", () => sort(button.closest("th")));

const text = document.getElementById("filter"), verdict = document.getElementById("verdict");
function filter() {
  const words = text.value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const section of document.querySelectorAll("section.table")) {
    const about = section.dataset.about.toLowerCase();
    let shown = 0;
    for (const row of section.querySelectorAll("tbody tr")) {
      const cells = [row.cells[0].firstChild, row.cells[1], row.cells[2]];  // remarks and numbers would match too much
      const line = [about, ...cells.map(cell => cell.textContent)].join(" ").toLowerCase();
      const fits = words.every(word => line.includes(word)) &&
        (verdict.value === "" || row.dataset.verdict === verdict.value);
      row.hidden = !fits;
      shown += fits;
    }
    section.hidden = shown === 0;
  }
  document.getElementById("nothing").hidden = document.querySelector("section.table:not([hidden])") !== null;
}
text.addEventListener("input", filter);
verdict.addEventListener("change", filter);
document.getElementById("controls").hidden = false;
