const state = { q: "", standing: "", device: "", precision: "", show: "standing", open: "" };

/** Filters and the open cell stand in the address, so that a view can be linked to. */
function readAddress() {
  const parameters = new URLSearchParams(location.hash.slice(1));
  for (const name of Object.keys(state)) state[name] = parameters.get(name) || (name === "show" ? "standing" : "");
  for (const name of ["q", "standing", "device", "precision", "show"]) $(name).value = state[name];
}

function writeAddress() {
  const parameters = new URLSearchParams(Object.entries(state).filter(([name, value]) => value && !(name === "show" && value === "standing")));
  history.replaceState(null, "", "#" + parameters);
}

const searched = new Map();

/** Whether a cell has what is searched for, in its model or in anything that its checks say. */
function contains(cell, wanted) {
  if (!wanted) return true;
  if (!searched.has(cell)) {
    const said = checksOf(cell).map((check) => check.check + " " + check.reason + " " + check.note);
    searched.set(cell, (cell.name + " " + data.models[cell.model][1] + " " + data.columns[cell.column].label + " " + said.join(" ")).toLowerCase());
  }
  return wanted.toLowerCase().split(/\s+/).every((part) => searched.get(cell).includes(part));
}

function isShown(cell) {
  const place = data.columns[cell.column];
  return (!state.standing || word(cell.standing) === state.standing || cell.rows.some((row) => row[2] === 1 && word(row[1]) === state.standing))
    && (!state.device || String(cell.column) === state.device || place.device === state.device)
    && (!state.precision || data.precisions[cell.precision] === state.precision)
    && contains(cell, state.q);
}

function value(cell) {
  if (state.show === "time") return time(cell.milliseconds);
  if (state.show === "memory") return bytes(cell.memory) || "not known";
  const silent = ["ignored", "fallback", "mock"].includes(word(cell.standing));
  const error = cell.error === null && cell.headroom === null ? "" : errorText(cell.error, cell.nonFinite);
  if (silent) return "";
  if (state.show === "error") return error;
  if (state.show === "headroom") return headroomText(cell.headroom);
  return [error, headroomText(cell.headroom)].filter((part) => part && part !== "exact").join(" ");
}

function cellButton(cell) {
  const label = cell.name + ", " + data.columns[cell.column].label + ", " + data.precisions[cell.precision] + ": " + word(cell.standing) + " " + value(cell);
  return h("button", { type: "button", class: "s " + cssClass(cell.standing), "data-key": cell.key, "aria-label": label, tabindex: "-1", "aria-expanded": cell.key === state.open ? "true" : "false" },
    mark(cell.standing), " ", h("span", { class: "value" }, value(cell)));
}

function drawMatrix() {
  const shown = cells.filter(isShown);
  const places = [...new Set(shown.map((cell) => cell.column * 10 + cell.precision))].sort((a, b) => a - b);
  const rows = new Map();
  for (const cell of shown) {
    if (!rows.has(cell.model)) rows.set(cell.model, new Map());
    rows.get(cell.model).set(cell.column * 10 + cell.precision, cell);
  }
  const heads = ["model", ...places.map((place) => data.columns[Math.floor(place / 10)].label + " " + data.precisions[place % 10])];
  const lines = [...rows].map(([model, row]) => h("tr", {}, h("th", { scope: "row" }, data.models[model][0], h("div", { class: "quiet" }, data.models[model][1])),
    places.map((place) => (row.has(place) ? h("td", {}, cellButton(row.get(place))) : h("td", { "aria-label": "nothing" })))));
  $("matrix").replaceChildren(lines.length ? table("Matrix of models and devices", heads, lines) : h("p", {}, "Nothing matches the filter."));
  $("shown").textContent = shown.length + " of " + cells.length + " cells, " + rows.size + " of " + data.models.length + " models";
  const first = $("matrix").querySelector("button");
  if (first) first.tabIndex = 0;
}

function open(key) {
  state.open = key || "";
  const cell = cells.find((cell) => cell.key === state.open);
  $("detail").hidden = !cell;
  $("detail").replaceChildren(...(cell ? detail(cell).flat(2).filter(Boolean) : []));
  for (const button of $("matrix").querySelectorAll("[aria-expanded=true]")) button.setAttribute("aria-expanded", "false");
  const button = cell && $("matrix").querySelector("[data-key=\"" + CSS.escape(cell.key) + "\"]");
  if (button) button.setAttribute("aria-expanded", "true");
  writeAddress();
}

/** Arrow keys walk the grid of cells. */
function walk(event) {
  const steps = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0], Home: [0, -99], End: [0, 99] };
  const step = steps[event.key], here = event.target.closest("td");
  if (!step || !here) return;
  event.preventDefault();
  const lines = [...here.closest("tbody").rows], line = lines.indexOf(here.parentElement);
  const target = lines[Math.max(0, Math.min(lines.length - 1, line + step[0]))];
  const places = [...target.cells].filter((place) => place.querySelector("button"));
  const wanted = Math.max(1, Math.min(target.cells.length - 1, here.cellIndex + step[1]));
  const place = step[1] === 0 ? target.cells[wanted] : places.reduce((best, other) => (Math.abs(other.cellIndex - wanted) < Math.abs(best.cellIndex - wanted) ? other : best), places[0]);
  const button = place && place.querySelector("button");
  if (!button) return;
  event.target.closest("button").tabIndex = -1;
  button.tabIndex = 0;
  button.focus();
}

drawFrame();
readAddress();
drawMatrix();
open(state.open);
$("matrix").addEventListener("click", (event) => { const button = event.target.closest("button"); if (button) { open(button.dataset.key); $("detail").focus(); } });
$("matrix").addEventListener("keydown", walk);
$("filters").addEventListener("input", (event) => { state[event.target.id] = event.target.value; drawMatrix(); writeAddress(); });
$("filters").addEventListener("reset", () => { Object.assign(state, { q: "", standing: "", device: "", precision: "", show: "standing" }); setTimeout(() => { drawMatrix(); writeAddress(); }); });
$("filters").addEventListener("submit", (event) => event.preventDefault());
addEventListener("hashchange", () => { readAddress(); drawMatrix(); open(state.open); });
addEventListener("keydown", (event) => {
  if (event.key === "/" && event.target.tagName !== "INPUT") { event.preventDefault(); $("q").focus(); }
  if (event.key === "Escape" && state.open) { const key = state.open; open(null); const button = $("matrix").querySelector("[data-key=\"" + CSS.escape(key) + "\"]"); if (button) button.focus(); }
});
document.body.dataset.ready = String(Math.round(performance.now()));
