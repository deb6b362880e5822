/* One latent from all sides. */
const EXAMPLES = 8, AROUND = 12;
const block = (title, ...inside) => { const kept = inside.flat(Infinity).filter(Boolean); return kept.length ? h("div", {}, h("h3", {}, title), kept) : null; };
const jump = k => h("button", {type: "button", class: "link", onclick: () => go({latent: k})}, latents[k].name);

function reasons(card) {
  const rows = card.evidence.map(item => h("tr", {}, h("th", {scope: "row"}, item.name),
    h("td", {class: item.tone}, item.measured), h("td", {}, item.null), h("td", {class: "words"}, item.words)));
  const table = rows.length ? h("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": "Evidence"}, h("table", {class: "lines evidence"},
    h("thead", {}, h("tr", {}, ["Asked", "Measured", "Noise", "In words"].map(text => h("th", {scope: "col"}, text)))), h("tbody", {}, rows))) : null;
  const made = block("Can it be trusted?", h("p", {}, h("strong", {}, percent(card.p)), " ", pill(card), about.threshold === null ? "" : ` threshold ${about.threshold.toFixed(2)}`),
    card.reason ? h("p", {}, card.reason) : null, card.truth ? h("p", {}, `The true latent: ${card.truth}`) : null,
    table === null ? null : h("details", {open: wideOpen}, h("summary", {}, "The evidence, item by item"), table));
  made.querySelector("details")?.addEventListener("toggle", event => { wideOpen = event.target.open; });
  made.className = "whole";
  return made;
}
let wideOpen = false;
function moves(card) {
  const most = Math.max(...card.variables.map(each => Math.abs(each.size)), 1e-12);
  const bar = each => { const made = h("span", {class: each.size < 0 ? "down" : "up"}), wide = 50 * Math.abs(each.size) / most;
    made.style.width = `${wide}%`; made.style.left = each.size < 0 ? `${50 - wide}%` : "50%"; return h("div", {}, made); };
  const rows = card.variables.map(each => h("tr", {}, h("th", {scope: "row"}, each.name), h("td", {class: "track"}, bar(each)),
    h("td", {class: "number"}, `${each.sign}${Math.abs(each.size).toFixed(2)}`)));
  const plain = (title, words) => words.length ? [h("h4", {}, title), h("ul", {class: "plain"}, words.map(word => h("li", {}, word)))] : [];
  return block("What it moves", rows.length ? h("table", {class: "moves"}, h("tbody", {}, rows)) : null,
    plain("Groups of variables", card.groups), plain("Goes with", card.related.map(each => each.text)), card.few ? h("p", {}, card.few) : null);
}
function traverse(card) {
  if (!card.strip) return null;
  const strip = card.strip, n = strip.at.length, sheet = new Image(), frame = h("canvas", {class: "frame", role: "img"});
  const slider = h("input", {type: "range", min: 0, max: n - 1, value: strip.here, "aria-label": `Move ${card.name}`});
  const said = h("output", {}, "");
  const show = () => {
    const wide = sheet.naturalWidth / n, k = Number(slider.value);
    frame.width = wide; frame.height = sheet.naturalHeight; frame.style.width = "192px";
    frame.getContext("2d").drawImage(sheet, k * wide, 0, wide, sheet.naturalHeight, 0, 0, wide, sheet.naturalHeight);
    said.textContent = `${figure(strip.at[k])} sd${k === strip.here ? ", the image itself" : ""}`;
    frame.setAttribute("aria-label", `${about.sheet.moved} with ${card.name} at ${strip.at[k]} standard deviations`);
  };
  slider.addEventListener("input", show);
  sheet.addEventListener("load", show);
  sheet.src = strip.src;
  return block("What it does to a picture", h("p", {}, `${about.sheet.moved}; all other latents stay.`),
    h("div", {class: "traverse"}, frame, h("div", {}, slider, h("p", {}, said))), h("p", {}, "Where pixels change as it rises by one deviation:"),
    h("img", {src: strip.slope, alt: `Change of the picture as ${card.name} rises`, width: 128}));
}
function tile(row) {
  const {src, across, width, height, rows} = about.sheet, zoom = 64 / Math.max(width, height), made = h("span", {class: "tile"});
  Object.assign(made.style, {width: `${width * zoom}px`, height: `${height * zoom}px`, backgroundImage: `url("${src}")`,
    backgroundSize: `${across * width * zoom}px ${rows * height * zoom}px`,
    backgroundPosition: `${-(row % across) * width * zoom}px ${-Math.floor(row / across) * height * zoom}px`});
  return made;
}
async function pictures(col, rows) {
  const names = await rowsNamed(rows);
  return h("div", {class: "tiles"}, rows.map((row, k) => h("figure", {}, tile(row), h("figcaption", {}, `${idOf(names, k, row)}: ${figure(valueAt(col, row))}`))));
}
async function inText(col, rows) {
  const n = col.places.length, line = async row => {
    const around = []; for (let i = Math.max(0, row - AROUND); i <= Math.min(n - 1, row + AROUND); i++) around.push(i);
    const names = await rowsNamed(around), own = names.documents === null ? null : names.documents[around.indexOf(row)];
    const parts = around.map((i, k) => {
      if (own !== null && names.documents[k] !== own) return null;
      const share = Math.max(0, valueAt(col, i)) / Math.max(col.high, 1e-12), made = h("mark", {class: i === row ? "here" : null}, names.tokens[k]);
      made.style.background = `color-mix(in srgb, var(--care) ${Math.round(38 * share)}%, transparent)`;
      return made;
    });
    return h("li", {}, h("strong", {}, `${figure(valueAt(col, row))} `), h("span", {class: "text"}, parts.filter(Boolean)));
  };
  return h("ul", {class: "plain"}, await Promise.all(rows.map(line)));
}
const MOST_BESIDE = 4, MOST_TOP = 3;
const besides = card => [...[...about.columns.keys()].filter(k => about.columns[k].role === "metadata").slice(0, MOST_BESIDE),
  ...card.variables.map(each => named.get(each.name)).filter(k => k !== undefined).slice(0, MOST_TOP)];
function inTable(card, col, rows, title, names) {
  const ks = besides(card), head = [about.kind === "cells" ? "cell" : "row", card.name, ...ks.map(k => about.columns[k].name)];
  return h("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": `${title} examples`}, h("table", {class: "lines"}, h("thead", {}, h("tr", {}, head.map(text => h("th", {scope: "col"}, text)))),
    h("tbody", {}, rows.map((row, k) => h("tr", {}, h("th", {scope: "row"}, idOf(names, k, row)), h("td", {}, figure(valueAt(col, row))), names.cells.map(cells => h("td", {}, cells[k])))))));
}
async function examples(card, col, counts) {
  const [most, least] = extremes(col, counts, EXAMPLES), asked = [...most, ...least];
  const names = about.kind === "images" || about.kind === "text" ? null : await rowsNamed(asked, besides(card));  // both ends at once
  const part = rows => { const at = rows.map(row => asked.indexOf(row)); return {ids: names.ids && at.map(k => names.ids[k]), cells: names.cells.map(cells => at.map(k => cells[k]))}; };
  const draw = (rows, title) => about.kind === "images" ? pictures(col, rows) : about.kind === "text" ? inText(col, rows) : inTable(card, col, rows, title, part(rows));
  const ends = about.kind === "text" ? [["Most active", most]] : [["Most active", most], ["Least active", least]];
  const found = await Promise.all(ends.map(async ([title, rows]) => h("div", {}, h("h4", {}, title), rows.length ? await draw(rows, title) : h("p", {class: "quiet"}, "No row is selected."))));
  const made = block("Examples", selection.mask === null ? null : h("p", {}, `Of the ${selection.count.toLocaleString("en")} rows that are selected.`), h("div", {class: "ends"}, found));
  made.className = "whole"; made.id = "examples";
  return made;
}
async function spreadOf(col, counts, now) {
  const words = about.columns.filter(each => isWord(each)).map(each => each.name), by = words.includes(now.by) ? await column(named.get(now.by)) : null;
  const pick = h("select", {id: "by", onchange: event => go({by: event.target.value})}, h("option", {value: ""}, "all rows"), words.map(name => h("option", {value: name, selected: name === now.by}, name)));
  const plot = histogram(col, counts, by), save = h("button", {type: "button", id: "save-svg", onclick: () => saveSvg(plot, col.name)}, "Save as SVG");
  return block("Its values", h("div", {class: "controls"}, words.length ? h("label", {}, "By", pick) : null, save), plot, by === null ? null : [legend(by), ...levelTable(col, by)]);
}
function around(card) {
  const kinds = [...new Set(card.near.map(each => each.by))];
  const line = kind => [h("h4", {}, `Nearest by ${kind}`), h("p", {class: "near"}, card.near.filter(each => each.by === kind).map(each => h("span", {}, jump(each.latent), ` ${each.value.toFixed(2)}`)))];
  const other = about.runs.map(run => { const pair = run.pairs[card.column];
    return h("li", {}, `${run.name}: ${pair.word}${pair.partner < 0 ? "" : `, nearest z${pair.partner}`}${pair.r === null ? "" : `, correlation ${pair.r.toFixed(2)}; noise does as well in ${(100 * pair.noise).toFixed(1)}% of draws`} `, against(card, run, pair)); });
  const made = block("Neighbours, and other runs", kinds.map(line), other.length ? [h("h4", {}, "In other runs"), h("ul", {class: "plain"}, other)] : null);
  if (made !== null) made.className = "whole";
  return made;
}
const against = (card, run, pair) => pair.partner < 0 ? "" : h("button", {type: "button", class: "link", "aria-label": `Draw ${card.name} against z${pair.partner} of ${run.name}`, onclick: () => go({x: card.name, y: `${run.name} z${pair.partner}`, box: null})}, "draw");
/* What is said of a latent is drawn when it is chosen; its values and examples when the selection changes too. */
let said = null;
async function drawLatent(now) {
  const card = latents[now.latent], col = await column(card.column), counts = tally(col);
  const moving = [await spreadOf(col, counts, now), await examples(card, col, counts)];
  return () => {
    if (said?.card === card) { const held = document.activeElement?.id; said.moving.forEach((old, k) => old.replaceWith(moving[k])); said.moving = moving; if (held) document.getElementById(held)?.focus(); return; }
    said = {card, moving};
    document.getElementById("latent-title").textContent = card.label ? `${card.name}: ${card.label}` : card.name;
    document.getElementById("view").replaceChildren(...[reasons(card), moves(card), traverse(card), moving[0], around(card), moving[1]].filter(Boolean));
  };
}
function drawRuns() {
  if (!about.runs.length) return;
  document.getElementById("runs").hidden = false;
  const side = (run, k) => { const other = run.latents[k]; return [h("td", {}, other.name), h("td", {class: "chance"}, `${percent(other.p)} `, h("span", {class: `pill ${other.tone}`}, other.word)), h("td", {class: "words"}, other.label)]; };
  const none = () => [h("td", {}, "–"), h("td", {}), h("td", {})];
  document.getElementById("matched").replaceChildren(...about.runs.flatMap(run => {
    const rows = latents.map(card => { const pair = run.pairs[card.column], matched = pair.status === "alone";
      return h("tr", {"data-status": pair.status}, h("th", {scope: "row"}, jump(card.column)), h("td", {class: "chance"}, `${percent(card.p)} `, pill(card)), h("td", {class: "words"}, card.label),
        h("td", {}, pair.word), h("td", {}, pair.r === null ? "–" : pair.r.toFixed(2), " ", against(card, run, pair)), matched ? side(run, pair.partner) : none()); });
    const lone = run.unmatched.map(k => h("tr", {"data-status": "unmatched"}, h("th", {scope: "row"}, "–"), h("td", {}), h("td", {}), h("td", {}, `only in ${run.name}`), h("td", {}, "–"), side(run, k)));
    const left = latents.filter(card => run.pairs[card.column].status !== "alone").map(card => card.name);
    const words = names => names.length ? names.join(", ") : "none";
    return [h("h3", {}, run.name), h("p", {class: "unmatched"}, `Without a counterpart: ${words(left)} here; ${words(run.unmatched.map(k => `z${k}`))} in ${run.name}. Agreement is not identification.`),
      h("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": `Matched with ${run.name}`}, h("table", {class: "lines"}, h("thead", {}, h("tr", {}, ["Here", "Trust", "Stands for", "Found", "Correlation", run.name, "Trust", "Stands for"].map(text => h("th", {scope: "col"}, text)))), h("tbody", {}, rows, lone)))];
  }));
}
