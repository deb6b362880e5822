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
async function read(k) {
  const known = about.columns[k], buffer = await bytes(k);
  const places = known.bytes === 1 ? new Uint8Array(buffer) : new Uint16Array(buffer);
  const missing = known.bytes === 1 ? 255 : 65535;
  return {...known, k, places, missing, scale: (known.high - known.low) / (missing - 1)};
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
/* Names of some rows: all are in the page, or the server is asked. */
async function rowsNamed(rows) {
  if (about.served && rows.length) return (await fetch(`rows?at=${rows.join(",")}`)).json();
  const pick = all => all === null || all === undefined ? null : rows.map(row => all[row]);
  return told === null ? {ids: null, tokens: null, documents: null} :
    {ids: pick(told.ids), tokens: pick(told.tokens), documents: pick(told.documents)};
}
const idOf = (names, place, row) => names.ids === null ? `row ${row}` : names.ids[place];

/* The rows that are selected: a mask over all of them, or null for every row. */
const selection = {mask: null, count: 0};
const chosen = row => selection.mask === null || selection.mask[row] === 1;
async function select(state) {
  const first = await column(named.get(state.x)), second = await column(named.get(state.y));
  const n = first.places.length;
  if (state.box === null) { selection.mask = null; selection.count = n; return; }
  const inside = (col, low, high) => [Math.ceil((low - col.low) / col.scale), Math.floor((high - col.low) / col.scale)];
  const [a, b] = inside(first, state.box[0], state.box[1]), [c, d] = inside(second, state.box[2], state.box[3]);
  const mask = new Uint8Array(n), xs = first.places, ys = second.places;
  let count = 0;
  for (let i = 0; i < n; i++)
    if (xs[i] >= a && xs[i] <= b && ys[i] >= c && ys[i] <= d && xs[i] !== first.missing && ys[i] !== second.missing) { mask[i] = 1; count++; }
  selection.mask = mask; selection.count = count;
}
/* The selected rows of the largest or smallest values, by one pass that keeps the best few. */
function extremes(col, most, sign) {
  const best = [], {places, missing} = col;
  let bound = -Infinity;
  for (let i = 0; i < places.length; i++) {
    if (places[i] === missing || !chosen(i)) continue;
    const value = sign * places[i];
    if (best.length === most && value <= bound) continue;
    best.push([value, i]);
    best.sort((p, q) => q[0] - p[0] || p[1] - q[1]);
    if (best.length > most) best.pop();
    if (best.length === most) bound = best[most - 1][0];
  }
  return best.map(each => each[1]);
}
