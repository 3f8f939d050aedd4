const state = { q: "", status: "", device: "", precision: "", show: "status", unfold: "", open: "" };

/** Filters, unfolded architectures and the open cell are in the address, so that a view can be linked to. */
function readAddress() {
  const parameters = new URLSearchParams(location.hash.slice(1));
  for (const name of Object.keys(state)) state[name] = parameters.get(name) || (name === "show" ? "status" : "");
  for (const name of ["q", "status", "device", "precision", "show"]) $(name).value = state[name];
}

function writeAddress() {
  const parameters = new URLSearchParams(Object.entries(state).filter(([name, value]) => value && !(name === "show" && value === "status")));
  history.replaceState(null, "", "#" + parameters);
}

const searched = new Map();

/** Whether a cell matches a search, by its model, its device or the reasons of its checks. */
function matches(cell, search) {
  if (!search) return true;
  if (!searched.has(cell)) {
    const reasons = checksOf(cell).map((check) => check.check + " " + check.reason + " " + check.note);
    searched.set(cell, (cell.name + " " + data.models[cell.model][1] + " " + data.columns[cell.column].label + " " + reasons.join(" ")).toLowerCase());
  }
  return search.toLowerCase().split(/\s+/).every((part) => searched.get(cell).includes(part));
}

function isShown(cell) {
  const column = data.columns[cell.column];
  return (!state.status || word(cell.status) === state.status || (cell.others.all > 0 && word(cell.others.status) === state.status) || cell.rows.some((row) => row[2] === 1 && word(row[1]) === state.status))
    && (!state.device || String(cell.column) === state.device || column.device === state.device)
    && (!state.precision || data.precisions[cell.precision] === state.precision)
    && matches(cell, state.q);
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

/** Arrow keys move the focus over the grid of cells. */
function moveFocus(event) {
  const steps = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0], Home: [0, -99], End: [0, 99] };
  const step = steps[event.key], here = event.target.closest("td");
  if (!step || !here) return;
  event.preventDefault();
  // Rows of architectures have no cells to open.
  const lines = [...here.closest("tbody").rows].filter((row) => row.querySelector("td button")), line = lines.indexOf(here.parentElement);
  const target = lines[Math.max(0, Math.min(lines.length - 1, line + step[0]))];
  const filled = [...target.cells].filter((cell) => cell.querySelector("button"));
  const index = Math.max(1, Math.min(target.cells.length - 1, here.cellIndex + step[1]));
  // Empty cells cannot have the focus: a step to the side goes to the nearest cell with a button.
  const nearest = (best, other) => (Math.abs(other.cellIndex - index) < Math.abs(best.cellIndex - index) ? other : best);
  const cell = step[1] === 0 ? target.cells[index] : filled.reduce(nearest, filled[0]);
  const button = cell && cell.querySelector("button");
  if (!button) return;
  event.target.closest("button").tabIndex = -1;
  button.tabIndex = 0;
  button.focus();
}

drawFrame();
readAddress();
drawMatrix();
open(state.open);
$("matrix").addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (button && button.dataset.unfold) toggle(button.dataset.unfold);
  else if (button) { open(button.dataset.key); $("detail").focus(); }
});
$("matrix").addEventListener("keydown", moveFocus);
$("filters").addEventListener("input", (event) => { state[event.target.id] = event.target.value; drawMatrix(); writeAddress(); });
$("filters").addEventListener("reset", () => { Object.assign(state, { q: "", status: "", device: "", precision: "", show: "status", unfold: "" }); setTimeout(() => { drawMatrix(); writeAddress(); }); });
$("filters").addEventListener("submit", (event) => event.preventDefault());
addEventListener("hashchange", () => { readAddress(); drawMatrix(); open(state.open); });
addEventListener("keydown", (event) => {
  if (event.key === "/" && event.target.tagName !== "INPUT") { event.preventDefault(); $("q").focus(); }
  if (event.key === "Escape" && state.open) { const key = state.open; open(null); const button = $("matrix").querySelector("[data-key=\"" + CSS.escape(key) + "\"]"); if (button) button.focus(); }
});
document.body.dataset.ready = String(Math.round(performance.now()));
