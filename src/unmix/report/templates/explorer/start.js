/* What is shown is in the address: every change goes through `go`, and the address can be passed on. */
const byTrust = [...latents].sort((a, b) => a.place - b.place);
const START = {latent: byTrust[0].column, x: latents[byTrust[0].column].name, y: latents[(byTrust[1] ?? byTrust[0]).column].name,
  colour: "", by: "", sort: "place", filter: "", verdict: "", box: null, ...about.start};
function fromAddress() {
  const given = new URLSearchParams(location.hash.slice(1)), found = {...START};
  for (const name of ["colour", "by", "filter", "verdict", "sort"]) if (given.has(name)) found[name] = given.get(name);
  for (const name of ["x", "y"]) if (named.has(given.get(name)) && !isWord(about.columns[named.get(given.get(name))])) found[name] = given.get(name);
  if (!named.has(found.colour) && found.colour !== SHOWN) found.colour = START.colour;
  const at = latents.findIndex(card => card.name === given.get("latent"));
  if (at >= 0) found.latent = at;
  const box = (given.get("box") ?? "").split(",").map(Number);
  if (box.length === 4 && box.every(Number.isFinite)) found.box = box;
  return found;
}
function toAddress(now) {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(now)) {
    if (name === "latent") given.set("latent", latents[value].name);
    else if (name === "box") { if (value !== null) given.set("box", value.map(each => Number(each.toPrecision(6))).join(",")); }
    else if (value !== START[name]) given.set(name, value);
  }
  return `#${given}`;
}
let state = fromAddress(), turn = 0, before = null;
const differs = (now, ...names) => before === null || names.some(name => before[name] !== now[name]);
async function draw() {
  const now = state, mine = ++turn;
  await select(now);
  const [latent, plane] = await Promise.all([drawLatent(now), drawPlane(now)]);
  if (mine !== turn) return;  // something newer is being drawn
  if (differs(now, "filter", "sort", "verdict")) drawList(now); else if (differs(now, "latent")) drawCurrent(now);
  if (differs(now, "x", "y", "colour")) axes(now);
  plane(); latent();
  before = now;
  document.documentElement.dataset.drawn = String(mine);
}
function go(change, done = true) {
  state = {...state, ...change};
  if (done) history.replaceState(null, "", toAddress(state));
  return draw();
}
const filterBox = document.getElementById("filter"), verdictBox = document.getElementById("verdict");
filterBox.value = state.filter; verdictBox.value = state.verdict;
filterBox.addEventListener("input", () => { state = {...state, filter: filterBox.value}; history.replaceState(null, "", toAddress(state)); drawList(state); });
verdictBox.addEventListener("change", () => { state = {...state, verdict: verdictBox.value}; history.replaceState(null, "", toAddress(state)); drawList(state); });
addEventListener("hashchange", () => { state = fromAddress(); filterBox.value = state.filter; verdictBox.value = state.verdict; draw(); });
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
function step(by) {
  if (!visible.length) return;
  const at = visible.findIndex(card => card.column === state.latent), next = visible[Math.min(visible.length - 1, Math.max(0, at + by))];
  lines.get(next.column).scrollIntoView({block: "nearest"});
  go({latent: next.column});
}
addEventListener("keydown", event => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape") { if (document.activeElement === filterBox) filterBox.blur(); go({box: null}); return; }
  if (/^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
  if (event.key === "j") step(1); else if (event.key === "k") step(-1);
  else if (event.key === "/") { event.preventDefault(); filterBox.focus(); }
});
document.getElementById("subtitle").textContent = about.subtitle;
document.getElementById("answer").classList.add(about.tone);
document.getElementById("notes").append(...about.notes.map(note => h("p", {}, note)));
document.getElementById("explorer").hidden = false;
drawRuns();
draw();
