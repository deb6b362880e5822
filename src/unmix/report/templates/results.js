"use strict";
const text = document.getElementById("filter"), verdict = document.getElementById("verdict"), all = document.getElementById("all");
const tables = [...document.querySelectorAll("details.table")], FEW = 5;
function filter() {
  const words = text.value.toLowerCase().split(/\s+/).filter(Boolean), asked = words.length > 0 || verdict.value !== "";
  for (const table of tables) {
    const about = table.dataset.about.toLowerCase();
    let shown = 0;
    for (const row of table.querySelectorAll("tbody tr")) {
      const cells = [row.cells[0].firstChild, row.cells[1], row.cells[2]];  // remarks and numbers would match too much
      const line = [about, ...cells.map(cell => cell.textContent)].join(" ").toLowerCase();
      const fits = words.every(word => line.includes(word)) &&
        (verdict.value === "" || row.dataset.verdict === verdict.value);
      row.hidden = !fits;
      shown += fits;
    }
    table.hidden = shown === 0;
  }
  const found = tables.filter(table => !table.hidden);
  if (asked) for (const table of found) table.open = found.length <= FEW;
  document.getElementById("nothing").hidden = found.length > 0;
}
text.addEventListener("input", filter);
verdict.addEventListener("change", filter);
all.addEventListener("click", () => {
  const open = all.getAttribute("aria-pressed") !== "true";
  for (const table of tables) table.open = open;
  all.setAttribute("aria-pressed", String(open));
  all.textContent = open ? "Close all" : "Open all";
});
document.getElementById("controls").hidden = false;
