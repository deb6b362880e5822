"use strict";
/* What the page holds: words about latents, columns of places, names of rows. Columns are unpacked when they are looked at. */
const about = JSON.parse(document.getElementById("about").textContent);
const told = JSON.parse(document.getElementById("rows").textContent);
const packed = [...document.querySelectorAll("script[data-column]")];
const unpacked = new Map();

async function bytes(k) {
  if (about.served) return (await fetch(`column/${k}`)).arrayBuffer();
  const text = atob(packed[k].textContent), found = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) found[i] = text.charCodeAt(i);
  return found.buffer;
}
function described(k) {
  const known = about.columns[k], missing = known.bytes === 1 ? 255 : 65535;
  return {...known, k, missing, scale: (known.high - known.low) / (missing - 1)};
}
async function read(k) {
  const known = described(k), buffer = await bytes(k);
  return {...known, places: known.bytes === 1 ? new Uint8Array(buffer) : new Uint16Array(buffer)};
}
function column(k) {
  if (!unpacked.has(k)) unpacked.set(k, read(k));
  return unpacked.get(k);
}
const named = new Map(about.columns.map((each, k) => [each.name, k]));
const isWord = each => each.levels.length > 0;
const valueAt = (col, row) => col.places[row] === col.missing ? NaN : col.low + col.places[row] * col.scale;
function shown(col, row) {
  if (col.places[row] === col.missing) return "–";
  return isWord(col) ? col.levels[col.places[row]] : figure(valueAt(col, row));
}
function figure(value) {
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  return size !== 0 && (size < 1e-3 || size >= 1e5) ? value.toExponential(2) : String(Number(value.toPrecision(4)));
}
/* Names of some rows, and their cells in some columns: all are in the page, or the server is asked for these few. */
async function rowsNamed(rows, ks = []) {
  if (about.served && rows.length) {
    const found = await (await fetch(`rows?at=${rows.join(",")}&columns=${ks.join(",")}`)).json();
    return {...found, cells: ks.map((k, j) => words(k, found.cells[j]))};
  }
  const cols = await Promise.all(ks.map(column)), cells = cols.map(col => rows.map(row => shown(col, row)));
  const pick = all => all === null || all === undefined ? null : rows.map(row => all[row]);
  return told === null ? {ids: null, tokens: null, documents: null, cells} :
    {ids: pick(told.ids), tokens: pick(told.tokens), documents: pick(told.documents), cells};
}
const words = (k, places) => { const known = described(k); return places.map((_, at) => shown({...known, places}, at)); };
const idOf = (names, place, row) => names.ids === null ? `row ${row}` : names.ids[place];

/* The rows that are selected: a mask over all of them, or null for every row. */
const selection = {mask: null, count: 0};
const chosen = row => selection.mask === null || selection.mask[row] === 1;
async function select(state) {
  const first = await column(named.get(state.x)), second = await column(named.get(state.y));
  const n = first.places.length;
  if (state.box === null) { selection.mask = null; selection.count = n; return; }
  const inside = (col, low, high) => [Math.max(0, Math.ceil((low - col.low) / col.scale)), Math.min(col.missing - 1, Math.floor((high - col.low) / col.scale))];
  const [a, b] = inside(first, state.box[0], state.box[1]), [c, d] = inside(second, state.box[2], state.box[3]);
  const mask = new Uint8Array(n), xs = first.places, ys = second.places;
  let count = 0;
  for (let i = 0; i < n; i++) { const x = xs[i], y = ys[i], is = (x >= a & x <= b & y >= c & y <= d); mask[i] = is; count += is; }
  selection.mask = mask; selection.count = count;
}
/* How often each place occurs among the selected rows: histograms and both ends follow from it. */
function tally(col) {
  const counts = new Uint32Array(col.missing), {places, missing} = col, {mask} = selection, n = places.length;
  if (mask === null) { for (let i = 0; i < n; i++) if (places[i] !== missing) counts[places[i]]++; }
  else for (let i = 0; i < n; i++) if (mask[i] === 1 && places[i] !== missing) counts[places[i]]++;
  return counts;
}
/* The selected rows of the largest and the smallest values: where these begin is counted, then they are gathered. */
function extremes(col, counts, most) {
  let above = counts.length - 1, below = 0, many = 0, few = 0;
  while (above > 0 && (many += counts[above]) < most) above--;
  while (below < counts.length - 1 && (few += counts[below]) < most) below++;
  const {places, missing} = col, {mask} = selection, high = [], low = [], n = places.length;
  for (let i = 0; i < n; i++) {
    const place = places[i];
    if (place < above && place > below || place === missing || mask !== null && mask[i] === 0) continue;
    if (place > above || (place === above && high.length < 4 * most)) high.push(i);
    if (place < below || (place === below && low.length < 4 * most)) low.push(i);
  }
  const best = (rows, sign) => rows.sort((p, q) => sign * (places[q] - places[p]) || p - q).slice(0, most);
  return [best(high, 1), best(low, -1)];
}
