/* Elements, whose text is always text; small pictures; histograms. */
function h(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes))
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value !== null && value !== false) made.setAttribute(name, value === true ? "" : value);
  made.append(...children.flat(Infinity).filter(child => child !== null && child !== undefined));
  return made;
}
function s(tag, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}
const COLOURS = ["#2f6fc7", "#d9822b", "#1f9e77", "#c2417c", "#8a6fd1", "#a6761d", "#50b4d8", "#7a7f87"];
const colourOf = k => COLOURS[Math.min(k, COLOURS.length - 1)];
const ink = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function spark(counts) {
  const most = Math.max(...counts, 1), wide = 100 / Math.max(counts.length, 1);
  const path = counts.map((n, k) => n ? `M${(k * wide).toFixed(1)} 30v${(-29 * n / most).toFixed(1)}h${(0.85 * wide).toFixed(1)}V30z` : "").join("");
  return s("svg", {class: "spark", viewBox: "0 0 100 30", preserveAspectRatio: "none", "aria-hidden": "true"}, s("path", {d: path}));
}
const BINS = 40;
const whole = new Map();  // bars of all rows, column by column
function binned(counts) {
  const found = new Float64Array(BINS), top = counts.length;
  for (let place = 0; place < top; place++) found[Math.floor(place / top * BINS)] += counts[place];
  return found;
}
function ofAll(col, counts) {
  if (!whole.has(col.k) && selection.mask === null) whole.set(col.k, binned(counts));
  if (!whole.has(col.k)) { const {mask} = selection; selection.mask = null; whole.set(col.k, binned(tally(col))); selection.mask = mask; }
  return whole.get(col.k);
}
/* The selected rows of each level of a column of words, bar by bar. */
function byLevel(col, by) {
  const found = by.levels.map(() => new Float64Array(BINS)), {places, missing} = col, share = BINS / missing;
  for (let i = 0; i < places.length; i++)
    if (places[i] !== missing && by.places[i] !== by.missing && chosen(i)) found[by.places[i]][Math.floor(places[i] * share)]++;
  return found;
}
const WIDE = 480, HIGH = 194, BASE = 165;
function axis(col) {
  const text = (x, value, anchor) => s("text", {x, y: BASE + 19, "text-anchor": anchor}, value);
  return [s("line", {class: "axis", x1: 0, x2: WIDE, y1: BASE, y2: BASE}),
    text(0, figure(col.low), "start"), text(WIDE, figure(col.high), "end"), text(WIDE / 2, col.name, "middle")];
}
const between = (col, k, n) => `${figure(col.low + k / BINS * (col.high - col.low))} to ${figure(col.low + (k + 1) / BINS * (col.high - col.low))}: ${n.toLocaleString("en")} rows`;
function bars(col, counts, most, kind) {
  const wide = WIDE / BINS, made = [];
  counts.forEach((n, k) => { if (n) { const high = 155 * n / most;
    made.push(s("rect", {class: kind, x: k * wide, width: wide - 1, y: BASE - high, height: high}, s("title", {}, between(col, k, n)))); } });
  return made;
}
/* All rows in grey, those selected in blue; or, by a column of words, one line for each of its levels. */
function histogram(col, counts, by) {
  const plot = s("svg", {class: "plot", viewBox: `0 0 ${WIDE} ${HIGH}`, role: "img", "aria-label": `Histogram of ${col.name}`});
  if (by === null) {
    const all = ofAll(col, counts), most = Math.max(...all, 1);
    if (selection.mask !== null) plot.append(...bars(col, all, most, "all"));
    plot.append(...bars(col, binned(counts), most, "some"), ...axis(col));
    return plot;
  }
  const found = byLevel(col, by), wide = WIDE / BINS;
  levelsOf(by).forEach((k, place) => {
    const total = found[k].reduce((a, b) => a + b, 0), most = Math.max(...found[k], 1);
    const path = [...found[k]].map((n, j) => `${j ? "H" : "M0 " + BASE + "H"}${(j * wide).toFixed(1)}V${(BASE - 155 * n / most).toFixed(1)}`).join("") + `H${WIDE}V${BASE}`;
    plot.append(s("path", {class: "level", d: path, stroke: colourOf(place)}, s("title", {}, `${by.levels[k]}: ${total} rows`)));
  });
  plot.append(...axis(col));
  return plot;
}
const levelsOf = by => by.levels.map((_, k) => k).slice(0, COLOURS.length);
function legend(by) {
  const more = by.levels.length - levelsOf(by).length;
  const entry = k => { const mark = h("i"); mark.style.background = colourOf(k); return h("span", {}, mark, by.levels[k]); };
  return h("div", {class: "key"}, levelsOf(by).map(entry), more > 0 ? h("span", {}, `${more} more`) : null);
}
/* Mean and spread of a latent in each level, beside the share of its variance that lies between levels. */
function levelTable(col, by) {
  const n = by.levels.map(() => 0), sum = by.levels.map(() => 0), squares = by.levels.map(() => 0);
  for (let i = 0; i < col.places.length; i++) {
    const k = by.places[i];
    if (k === by.missing || col.places[i] === col.missing || !chosen(i)) continue;
    const value = valueAt(col, i);
    n[k]++; sum[k] += value; squares[k] += value * value;
  }
  const total = n.reduce((a, b) => a + b, 0), mean = sum.reduce((a, b) => a + b, 0) / Math.max(total, 1);
  const all = squares.reduce((a, b) => a + b, 0) - total * mean * mean;
  const between = n.reduce((a, m, k) => a + (m ? m * (sum[k] / m - mean) ** 2 : 0), 0);
  const rows = by.levels.map((level, k) => [level, n[k], n[k] ? sum[k] / n[k] : NaN,
    n[k] > 1 ? Math.sqrt(Math.max(0, squares[k] / n[k] - (sum[k] / n[k]) ** 2)) : NaN]).filter(row => row[1] > 0);
  const head = h("tr", {}, [by.name, "rows", "mean", "deviation"].map(text => h("th", {scope: "col"}, text)));
  const body = rows.map(([level, count, middle, spread]) => h("tr", {}, h("th", {scope: "row"}, level), h("td", {}, String(count)), h("td", {}, figure(middle)), h("td", {}, figure(spread))));
  return [h("p", {}, `Between levels of ${by.name}: ${(100 * between / Math.max(all, 1e-300)).toFixed(1)}% of the variance.`),
    h("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": `By ${by.name}`}, h("table", {class: "lines"}, h("thead", {}, head), h("tbody", {}, body)))];
}
