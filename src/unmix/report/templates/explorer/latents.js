/* The list of latents: a filter, an order, and the one that is looked at. */
const list = document.getElementById("list"), latents = about.latents;
const percent = p => p === null ? "–" : p.toFixed(2);
const pill = card => h("span", {class: `pill ${card.tone}`}, card.word);
const foundIn = card => about.runs.map(run => run.pairs[card.column]).filter(Boolean);
const HEADS = [
  ["latent", "Latent", card => card.column],
  ["shape", "Values", null],
  ["trust", "Trust", card => card.p === null ? -1 : -card.p],
  ["label", "Stands for", card => card.label],
  ["goes", "Goes with", card => card.related.length ? card.related[0].short : ""],
  ["share", about.kind === "text" ? "On in" : "Moves", card => card.share === null ? 0 : -card.share],
  ["runs", "In other runs", card => -foundIn(card).filter(pair => pair.status === "alone").length],
].filter(([key]) => (key !== "goes" || latents.some(card => card.related.length)) && (key !== "runs" || about.runs.length));
const cells = {
  latent: card => h("th", {scope: "row"}, h("button", {type: "button", onclick: () => go({latent: card.column})}, card.name)),
  trust: card => h("td", {class: "chance"}, `${percent(card.p)} `, pill(card)),
  label: card => h("td", {class: "words"}, card.label),
  goes: card => h("td", {class: "words"}, card.related.length ? card.related[0].short : ""),
  share: card => h("td", {}, card.share === null ? "–" : about.kind === "images" ? `${(255 * card.share).toFixed(0)} levels` : `${(100 * card.share).toFixed(about.kind === "text" ? 2 : 0)}%`),
  runs: card => h("td", {}, foundIn(card).map(pair => h("div", {}, `${pair.word}${pair.r === null ? "" : ` ${pair.r.toFixed(2)}`}`))),
  shape: card => h("td", {}, spark(card.bars)),
};
const lines = new Map(latents.map(card => [card.column, h("tr", {"data-latent": card.column}, HEADS.map(([key]) => cells[key](card)))]));
const searched = new Map(latents.map(card => [card.column, [card.name, card.label, card.word, card.reason, card.truth, ...card.groups,
  ...card.variables.map(each => each.name), ...card.related.map(each => each.text), ...foundIn(card).map(pair => pair.word)].join(" ").toLowerCase()]));
list.tHead.rows[0].append(...HEADS.map(([key, text, by]) => h("th", {scope: "col", "data-key": key},
  by === null ? text : h("button", {type: "button", onclick: () => sortBy(key)}, text))));
document.getElementById("verdict").append(...[...new Set(latents.map(card => card.word))].map(word => h("option", {value: word}, word)));

function sortBy(key) {
  const [now, down] = state.sort.split("-");
  go({sort: now === key && down !== "down" ? `${key}-down` : key});
}
function arranged(order) {
  const [key, down] = order.split("-"), head = HEADS.find(each => each[0] === key);
  const by = head === undefined || head[2] === null ? card => card.place : head[2];
  const compare = (a, b) => { const [p, q] = [by(a), by(b)]; return typeof p === "string" ? p.localeCompare(q, "en", {numeric: true}) : p - q; };
  return [...latents].sort((a, b) => (down === "down" ? -1 : 1) * compare(a, b) || a.place - b.place);
}
function drawList(now) {
  const words = now.filter.toLowerCase().split(/\s+/).filter(Boolean), [key, down] = now.sort.split("-");
  const fits = card => words.every(word => searched.get(card.column).includes(word)) && (now.verdict === "" || card.word === now.verdict);
  visible = arranged(now.sort).filter(fits);
  list.tBodies[0].replaceChildren(...visible.map(card => lines.get(card.column)));
  drawCurrent(now);
  for (const cell of list.tHead.rows[0].cells)
    cell.dataset.key === key ? cell.setAttribute("aria-sort", down === "down" ? "descending" : "ascending") : cell.removeAttribute("aria-sort");
  document.getElementById("nothing").hidden = visible.length > 0;
}
function drawCurrent(now) {
  for (const [k, line] of lines) k === now.latent ? line.setAttribute("aria-current", "true") : line.removeAttribute("aria-current");
}
let visible = [];
