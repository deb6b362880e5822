/* Two columns against each other: points or their density, a part that is selected, and what is exported. */
const canvas = document.getElementById("points"), PAD = {left: 72, right: 14, top: 12, bottom: 46};
const inner = () => ({x: PAD.left, y: PAD.top, w: canvas.width - PAD.left - PAD.right, h: canvas.height - PAD.top - PAD.bottom});
const rgb = hex => [1, 3, 5].map(k => parseInt(hex.slice(k, k + 2), 16));

/* Count rows pixel by pixel, so that a million of them cost one pass; the colour is that of the last row there. */
function rasterise(xs, ys, by, area, radius) {
  const w = Math.floor(area.w), tall = Math.floor(area.h), grey = new Uint8Array(w * tall), lit = new Uint8Array(w * tall), kind = new Uint8Array(w * tall);
  const px = xs.places, py = ys.places, mx = xs.missing, my = ys.missing, sx = (w - 1) / (mx - 1), sy = (tall - 1) / (my - 1), {mask} = selection, n = px.length;
  for (let i = 0; i < n; i++) {
    const a = px[i], b = py[i];
    if (a === mx || b === my) continue;
    const at = (tall - 1 - (b * sy | 0)) * w + (a * sx | 0), into = mask === null || mask[i] === 1 ? lit : grey;
    if (into[at] < 255) into[at]++;
  }
  if (by !== null) shaded(xs, ys, by, kind, w, tall, sx, sy);
  return {w, tall, grey, lit, kind, radius};
}
function shaded(xs, ys, by, kind, w, tall, sx, sy) {
  const px = xs.places, py = ys.places, {places, missing} = by, last = COLOURS.length - 1, word = isWord(by), n = px.length;
  for (let i = 0; i < n; i++) {
    if (px[i] === xs.missing || py[i] === ys.missing || !chosen(i)) continue;
    kind[(tall - 1 - (py[i] * sy | 0)) * w + (px[i] * sx | 0)] = places[i] === missing ? 255 : word ? Math.min(places[i], last) : Math.floor(255 * places[i] / missing);
  }
}
const ramp = share => { const [a, b, c] = [[47, 111, 199], [150, 120, 160], [230, 110, 40]], t = share * 2, [p, q] = t < 1 ? [a, b] : [b, c], u = t < 1 ? t : t - 1; return p.map((v, k) => v + u * (q[k] - v)); };
function painted(found, by) {
  const {w, tall, grey, lit, kind, radius} = found, picture = new ImageData(w, tall), out = picture.data;
  const quiet = rgb("#9aa3b0"), colours = COLOURS.map(rgb), ramps = Array.from({length: 256}, (_, k) => ramp(k / 255)), blue = rgb("#2f6fc7");
  const put = (at, colour, alpha) => { const o = 4 * at; if (alpha < out[o + 3]) return; out[o] = colour[0]; out[o + 1] = colour[1]; out[o + 2] = colour[2]; out[o + 3] = alpha; };
  const spread = (at, colour, alpha) => { const x = at % w, y = (at - x) / w;
    for (let dy = -radius; dy <= radius; dy++) for (let dx = -radius; dx <= radius; dx++)
      if (dx * dx + dy * dy <= radius * radius + 1 && x + dx >= 0 && x + dx < w && y + dy >= 0 && y + dy < tall) put(at + dy * w + dx, colour, alpha); };
  for (let at = 0; at < w * tall; at++) if (grey[at]) spread(at, quiet, Math.min(150, 50 + 30 * grey[at]));
  for (let at = 0; at < w * tall; at++) if (lit[at])
    spread(at, by === null ? blue : kind[at] === 255 && isWord(by) ? quiet : isWord(by) ? colours[kind[at]] : ramps[kind[at]], Math.min(255, 160 + 25 * lit[at]));
  return picture;
}
const rampKey = by => h("span", {class: "ramp"}, `${by.name} ${figure(by.low)}`, h("b", {"aria-hidden": "true"}), figure(by.high));
function frame(xs, ys, area) {
  const pen = canvas.getContext("2d");
  pen.strokeStyle = ink("--line"); pen.strokeRect(area.x - .5, area.y - .5, area.w + 1, area.h + 1);
  pen.fillStyle = ink("--quiet"); pen.font = "16px system-ui, sans-serif";
  const text = (words, x, y, align) => { pen.textAlign = align; pen.fillText(words, x, y, 200); };
  text(figure(xs.low), area.x, area.y + area.h + 19, "left"); text(figure(xs.high), area.x + area.w, area.y + area.h + 19, "right");
  text(xs.name, area.x + area.w / 2, area.y + area.h + 37, "center");
  text(figure(ys.high), area.x - 4, area.y + 12, "right"); text(figure(ys.low), area.x - 4, area.y + area.h, "right");
  pen.save(); pen.translate(16, area.y + area.h / 2); pen.rotate(-Math.PI / 2); text(ys.name, 0, 0, "center"); pen.restore();
}
function rectangle(box, xs, ys, area) {
  const px = v => area.x + (v - xs.low) / (xs.high - xs.low) * area.w, py = v => area.y + area.h - (v - ys.low) / (ys.high - ys.low) * area.h;
  const pen = canvas.getContext("2d");
  pen.strokeStyle = ink("--ink"); pen.lineWidth = 1.5; pen.setLineDash([5, 4]);
  pen.strokeRect(px(box[0]), py(box[3]), px(box[1]) - px(box[0]), py(box[2]) - py(box[3]));
  pen.setLineDash([]); pen.lineWidth = 1;
}
const SHOWN = "*";  // colour by whichever latent is looked at
let drawn = null;
async function drawPlane(now) {
  const [xs, ys] = [await column(named.get(now.x)), await column(named.get(now.y))];
  const colour = now.colour === SHOWN ? latents[now.latent].name : now.colour;
  const by = colour === "" ? null : await column(named.get(colour)), area = inner();
  if (about.served) await new Promise(done => setTimeout(done));  // the server is asked for examples first, and both work at once
  const radius = xs.places.length > 30000 ? 0 : xs.places.length > 3000 ? 1 : 2, picture = painted(rasterise(xs, ys, by, area, radius), by);
  return () => {
    const pen = canvas.getContext("2d");
    pen.clearRect(0, 0, canvas.width, canvas.height);
    pen.putImageData(picture, Math.ceil(area.x), Math.ceil(area.y));
    frame(xs, ys, area);
    if (now.box !== null) rectangle(now.box, xs, ys, area);
    drawn = {xs, ys, area};
    document.getElementById("legend").replaceChildren(...(by === null ? [] : isWord(by) ? [legend(by)] : [rampKey(by)]));
    const n = selection.count.toLocaleString("en"), all = xs.places.length.toLocaleString("en");
    document.getElementById("count").textContent = now.box === null ? `All ${all} rows.` : `${n} of ${all} rows are selected.`;
    canvas.setAttribute("aria-label", `${xs.name} against ${ys.name}, ${now.box === null ? all : `${n} of ${all}`} rows`);
    bounds(now, xs, ys);
  };
}
/* Menus are made once, and then told what is chosen. */
function axes(now) {
  const roles = [["latent", "Latents"], ["map", "Maps"], ["other", "Other runs"], ["variable", "Variables"], ["metadata", "Other columns"]];
  const menu = (name, title, fits, none = []) => {
    const groups = roles.map(([role, words]) => [words, about.columns.filter(each => each.role === role && fits(each))]).filter(([, each]) => each.length);
    const option = each => h("option", {value: each.name}, each.name);
    return h("label", {}, title, h("select", {id: `axis-${name}`, onchange: event => go(name === "colour" ? {colour: event.target.value} : {[name]: event.target.value, box: null})},
      none.map(([value, words]) => h("option", {value}, words)), groups.map(([words, each]) => h("optgroup", {label: words}, each.map(option)))));
  };
  const field = document.getElementById("axes");
  if (!field.children.length) field.append(menu("x", "Across", each => !isWord(each)), menu("y", "Up", each => !isWord(each)), menu("colour", "Colour", () => true, [["", "one colour"], [SHOWN, "the latent shown"]]), ...maps());
  for (const name of ["x", "y", "colour"]) document.getElementById(`axis-${name}`).value = now[name];
}
/* Columns of maps come in pairs: of all codes, and those that the data bring. */
function maps() {
  const found = about.columns.filter(each => each.role === "map").map(each => each.name), pairs = found.filter((_, k) => k % 2 === 0).map((name, k) => [name, found[2 * k + 1]]);
  const button = ([x, y], k) => h("button", {type: "button", "data-map": x, onclick: () => go({x, y, box: null})}, k ? x.replace(/ 1$/, "") : "Map of all latents");
  return pairs.map(button);
}
function bounds(now, xs, ys) {
  const field = document.getElementById("bounds"), all = [xs.low, xs.high, ys.low, ys.high], box = now.box ?? all;
  const change = (k, value) => { const next = [...(state.box ?? all)]; next[k] = Number.isFinite(value) ? value : all[k]; go({box: next}); };
  if (field.dataset.of !== JSON.stringify([xs.name, ys.name])) {
    const input = k => h("input", {type: "number", step: "any", "data-bound": k, "aria-label": `${k < 2 ? xs.name : ys.name} ${k % 2 ? "to" : "from"}`, onchange: event => change(k, event.target.valueAsNumber)});
    const pair = (name, k) => h("div", {class: "pair"}, h("span", {}, name), input(k), h("span", {"aria-hidden": "true"}, "to"), input(k + 1));
    field.replaceChildren(h("legend", {}, "Bounds"), pair(xs.name, 0), pair(ys.name, 2), h("button", {type: "button", id: "all", onclick: () => go({box: null})}, "Select all rows"));
    field.dataset.of = JSON.stringify([xs.name, ys.name]);
  }
  for (const input of field.querySelectorAll("input")) if (input !== document.activeElement) input.value = Number(box[input.dataset.bound].toPrecision(5));
}
/* Dragging. */
const place = event => { const found = canvas.getBoundingClientRect(), zoom = canvas.width / found.width;
  return [(event.clientX - found.left) * zoom, (event.clientY - found.top) * zoom]; };
const valueOf = ([px, py]) => { const {xs, ys, area} = drawn, clip = share => Math.min(1, Math.max(0, share));
  return [xs.low + clip((px - area.x) / area.w) * (xs.high - xs.low), ys.low + clip((area.y + area.h - py) / area.h) * (ys.high - ys.low)]; };
let from = null, waiting = false;
canvas.addEventListener("pointerdown", event => { if (drawn === null) return; from = place(event); canvas.setPointerCapture(event.pointerId); });
canvas.addEventListener("pointermove", event => {
  if (from === null || waiting) return;
  waiting = true;
  const to = place(event);
  requestAnimationFrame(() => { waiting = false; if (from !== null) brush(from, to, false); });
});
canvas.addEventListener("pointercancel", () => { from = null; });
canvas.addEventListener("pointerup", event => { if (from === null) return; const begun = from; from = null; brush(begun, place(event), true); });
function brush(begun, to, done) {
  if (Math.abs(begun[0] - to[0]) < 4 && Math.abs(begun[1] - to[1]) < 4) { if (done) go({box: null}); return; }
  const [a, b] = [valueOf(begun), valueOf(to)];
  go({box: [Math.min(a[0], b[0]), Math.max(a[0], b[0]), Math.min(a[1], b[1]), Math.max(a[1], b[1])]}, done);
}
/* What is selected, as files. */
function save(content, kind, name) {
  const link = h("a", {href: URL.createObjectURL(new Blob([content], {type: kind})), download: name});
  document.body.append(link); link.click(); link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
function cell(text) {
  const safe = /^[=+\-@\t\r]/.test(text) && Number.isNaN(Number(text)) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
async function selectedCsv() {
  const kept = [...about.columns.keys()].filter(k => ["metadata", "latent"].includes(about.columns[k].role)).sort((a, b) => (about.columns[a].role === "latent") - (about.columns[b].role === "latent"));
  const cols = await Promise.all(kept.map(column)), rows = [];
  for (let i = 0; i < cols[0].places.length; i++) if (chosen(i)) rows.push(i);
  const made = [["id", ...cols.map(each => each.name)].map(cell).join(",")];
  for (let start = 0; start < rows.length; start += 1000) {
    const part = rows.slice(start, start + 1000), names = await rowsNamed(part);
    part.forEach((row, k) => made.push([idOf(names, k, row), ...cols.map(each => each.places[row] === each.missing ? "" : isWord(each) ? shown(each, row) : String(valueAt(each, row)))].map(text => cell(String(text))).join(",")));
  }
  return made.join("\n") + "\n";
}
function saveSvg(plot, name) {
  const copy = plot.cloneNode(true), style = document.createElementNS("http://www.w3.org/2000/svg", "style");
  style.textContent = `.all{fill:${ink("--bar")}}.some{fill:${ink("--blue")}}.axis{stroke:${ink("--line")}}text{fill:${ink("--quiet")};font:16px sans-serif}.level{fill:none;stroke-width:2}`;
  copy.prepend(style); copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  save(new XMLSerializer().serializeToString(copy), "image/svg+xml", `${name.replace(/[^\w.-]+/g, "_")}.svg`);
}
document.getElementById("exports").append(
  h("button", {type: "button", id: "save-csv", onclick: async () => save(await selectedCsv(), "text/csv", "selected.csv")}, "Save the selected rows as CSV"),
  h("button", {type: "button", id: "save-png", onclick: () => canvas.toBlob(blob => save(blob, "image/png", "plane.png"))}, "Save the plane as PNG"));
