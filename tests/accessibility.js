/* Faults that keep people from a page: those that axe-core calls serious, and can be told from the document. Returns a list of sentences. */
() => {
  const faults = [], say = (rule, node, more = "") => faults.push(`${rule}: ${node.outerHTML.slice(0, 120)} ${more}`);
  const seen = node => node.checkVisibility({visibilityProperty: true, opacityProperty: true}) && !node.closest('[aria-hidden="true"], [hidden]');
  const all = query => [...document.querySelectorAll(query)].filter(seen);
  const referred = node => (node.getAttribute("aria-labelledby") ?? "").split(/\s+/).filter(Boolean).map(id => document.getElementById(id));
  const name = node => [node.getAttribute("aria-label"), ...referred(node).map(each => each?.textContent), ...[...(node.labels ?? [])].map(label => label.textContent),
    node.alt, node.title, node.textContent].find(words => words?.trim()) ?? "";

  if (!document.documentElement.lang) faults.push("no language");
  if (!document.title.trim()) faults.push("no title");
  if (all("main").length !== 1) faults.push("not one main landmark");
  if (all("h1").length !== 1) faults.push("not one first heading");
  for (const node of all("button, a[href], input, select, textarea, summary")) {
    const own = /^(INPUT|SELECT|TEXTAREA)$/.test(node.tagName) ? name(Object.assign(node.cloneNode(false), {})) || [...(node.labels ?? [])].map(each => each.textContent).join("").trim() : name(node);
    if (!own.trim()) say("control without a name", node);
  }
  for (const node of all('img, svg[role="img"], canvas[role="img"]'))
    if (!(node.getAttribute("aria-label") || node.getAttribute("alt") !== null && node.tagName === "IMG")) say("picture without words", node);
  for (const node of all("th")) if (!node.textContent.trim()) say("empty head of a table", node);
  for (const node of all("table")) if (node.rows.length > 1 && !node.querySelector("th")) say("table without heads", node);
  let level = 0;
  for (const node of all("h1, h2, h3, h4, h5, h6")) { const now = Number(node.tagName[1]); if (now > level + 1) say("skipped level of headings", node); level = now; }
  const ids = new Set();
  for (const node of document.querySelectorAll("[id]")) { if (ids.has(node.id)) say("id used twice", node); ids.add(node.id); }
  for (const node of document.querySelectorAll("[aria-labelledby]")) if (referred(node).some(each => each === null)) say("label that is not there", node);
  for (const node of document.querySelectorAll("[tabindex]")) if (node.tabIndex > 0) say("order of focus is forced", node);
  for (const node of all("*")) {
    const style = getComputedStyle(node), sideways = node.scrollWidth > node.clientWidth + 1 && /auto|scroll/.test(style.overflowX), down = node.scrollHeight > node.clientHeight + 1 && /auto|scroll/.test(style.overflowY);
    if ((sideways || down) && node !== document.scrollingElement && node.tabIndex < 0 && !node.querySelector("a[href], button, input, select, summary")) say("scrolls, and can't be reached by keys", node);
  }
  const labels = all('[role="region"], nav, section[aria-labelledby]').map(node => `${node.tagName === "NAV" ? "nav" : "region"} ${name(node).trim()}`);
  for (const label of new Set(labels.filter((each, k) => labels.indexOf(each) !== k))) faults.push(`two landmarks of one name: ${label.slice(0, 80)}`);

  /* contrast: the colour of text against all that lies behind it */
  const pen = Object.assign(document.createElement("canvas"), {width: 1, height: 1}).getContext("2d", {willReadFrequently: true});
  const known = new Map(), rgba = text => { if (!known.has(text)) { pen.clearRect(0, 0, 1, 1); pen.fillStyle = text; pen.fillRect(0, 0, 1, 1); const [r, g, b, a] = pen.getImageData(0, 0, 1, 1).data; known.set(text, [r, g, b, a / 255]); } return known.get(text); };
  const over = (top, under) => [0, 1, 2].map(k => top[3] * top[k] + (1 - top[3]) * under[k]).concat(1);
  const back = node => { if (node === null) return rgba(getComputedStyle(document.body).backgroundColor); const own = rgba(getComputedStyle(node).backgroundColor); return own[3] === 1 ? own : over(own, back(node.parentElement)); };
  const light = colour => { const [r, g, b] = colour.slice(0, 3).map(v => { const c = v / 255; return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; }); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  for (const node of all("body *")) {
    if (node.closest("svg") || node.disabled || ![...node.childNodes].some(child => child.nodeType === 3 && child.textContent.trim())) continue;
    const style = getComputedStyle(node), behind = back(node), front = over(rgba(style.color), behind), [a, b] = [light(front), light(behind)].sort((p, q) => q - p);
    const size = parseFloat(style.fontSize), large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700), ratio = (a + 0.05) / (b + 0.05);
    if (ratio < (large ? 3 : 4.5) - 0.005) say("too little contrast", node, ratio.toFixed(2));
  }
  return faults;
}
