"use strict";
const list = document.getElementById("list"), cards = [...list.children];
const [text, kind, order] = ["filter", "kind", "order"].map(name => document.getElementById(name));
const about = new Map(cards.map(card => [card, card.textContent.toLowerCase()]));
function filter() {
  const words = text.value.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const card of cards) {
    const fits = words.every(word => about.get(card).includes(word)) &&
      (kind.value === "" || card.dataset.kinds.split("|").includes(kind.value));
    card.hidden = !fits;
    shown += fits;
  }
  document.getElementById("nothing").hidden = shown > 0;
}
function arrange() {
  const key = order.value;
  list.append(...cards.sort((a, b) => a.dataset[key] - b.dataset[key] || a.dataset.place - b.dataset.place));
}
text.addEventListener("input", filter);
kind.addEventListener("change", filter);
order.addEventListener("change", arrange);
document.getElementById("controls").hidden = false;
