const data = JSON.parse(document.getElementById("data").textContent);
const $ = (id) => document.getElementById(id);

/** An element; strings become text, never markup, because the data is untrusted. */
function h(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === false || value === null || value === undefined) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== ""));
  return element;
}

function number(value, digits = 2) {
  if (value === null || value === undefined) return "";
  if (value === 0) return "0";
  return Math.abs(value) >= 1e-3 && Math.abs(value) < 1e5 ? String(+value.toPrecision(digits + 1)) : value.toExponential(digits);
}

function time(milliseconds) {
  return milliseconds < 1000 ? number(milliseconds) + " ms" : number(milliseconds / 1000) + " s";
}

function bytes(count) {
  if (count === null || count === undefined) return "";
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  while (count >= 1024 && unit < units.length - 1) { count /= 1024; unit += 1; }
  return number(count) + " " + units[unit];
}

/** A table with a caption for screen readers. */
function table(caption, heads, rows) {
  const head = h("tr", {}, heads.map((name) => h("th", { scope: "col" }, name)));
  return h("table", { "aria-label": caption }, h("thead", {}, head), h("tbody", {}, rows));
}

/** An element of a drawing. */
function svg(tag, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}
