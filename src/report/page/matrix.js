/** Models that are shown without folding, and notable models that an architecture shows before it is unfolded. */
const MODELS_SHOWN = 40, NOTABLE_SHOWN = 50;

function value(cell) {
  if (state.show === "time") return time(cell.milliseconds);
  if (state.show === "memory") return bytes(cell.memory) || "not known";
  const hasNoNumbers = ["ignored", "fallback", "mock"].includes(word(cell.status));
  const error = cell.error === null && cell.headroom === null ? "" : errorText(cell.error, cell.nonFinite);
  if (hasNoNumbers) return "";
  if (state.show === "error") return error;
  if (state.show === "headroom") return headroomText(cell.headroom);
  return [error, headroomText(cell.headroom)].filter((part) => part && part !== "exact").join(" ");
}

function cellButton(cell) {
  const others = othersText(cell.others);
  const label = cell.name + ", " + data.columns[cell.column].label + ", " + data.precisions[cell.precision] + ": " + word(cell.status) + " " + value(cell) + (others && "; other checks: " + others);
  return h("button", { type: "button", class: "s " + cssClass(cell.status), "data-key": cell.key, "aria-label": label, tabindex: "-1", "aria-expanded": cell.key === state.open ? "true" : "false" },
    mark(cell.status), " ", h("span", { class: "value" }, value(cell)), others && othersBadge(cell.others));
}

/** Sign and count of the other checks; the word, too, if it is severe. */
function othersBadge({ status, count, all }) {
  const sign = h("span", { class: "sign", "aria-hidden": "true" }, data.statuses[status][1]);
  return isSevere(status) ? h("div", { class: "others s " + cssClass(status) }, sign, " " + count + " of " + all + " others: " + word(status))
    : h("span", { class: "others quiet" }, sign, count + " others");
}

/** The cells that match the filters, by architecture, then by model. */
function architecturesOf(shown) {
  const architectures = new Map();
  for (const cell of shown) {
    const name = data.models[cell.model][1];
    if (!architectures.has(name)) architectures.set(name, new Map());
    const models = architectures.get(name);
    if (!models.has(cell.model)) models.set(cell.model, new Map());
    models.get(cell.model).set(position(cell), cell);
  }
  return architectures;
}

const position = (cell) => cell.column * 10 + cell.precision;

/** With many models only the notable ones, below a row for each architecture; otherwise every model. */
function drawMatrix() {
  const shown = cells.filter(isShown), architectures = architecturesOf(shown);
  const positions = [...new Set(shown.map(position))].sort((a, b) => a - b);
  const models = [...architectures.values()].reduce((sum, rows) => sum + rows.size, 0);
  const heads = ["model", ...positions.map((place) => data.columns[Math.floor(place / 10)].label + " " + data.precisions[place % 10])];
  const isFolded = models > MODELS_SHOWN;
  const lines = [...architectures].flatMap(([name, rows]) => (isFolded ? foldedRows(name, rows, positions) : modelRows(rows, positions, true)));
  $("matrix").replaceChildren(lines.length ? table("Matrix of models and devices", heads, lines) : h("p", {}, "Nothing matches the filter."));
  $("shown").textContent = shown.length + " of " + cells.length + " cells, " + models + " of " + data.models.length + " models";
  const first = $("matrix").querySelector("td button");
  if (first) first.tabIndex = 0;
}

function modelRows(rows, positions, hasArchitecture) {
  const head = (model) => h("th", { scope: "row" }, data.models[model][0], hasArchitecture ? h("div", { class: "quiet" }, data.models[model][1]) : "");
  return [...rows].map(([model, row]) => h("tr", {}, head(model),
    positions.map((place) => (row.has(place) ? h("td", {}, cellButton(row.get(place))) : h("td", { "aria-label": "no checks" })))));
}

/** The row of an architecture with its counts, then the notable models, or all of them if it is unfolded. */
function foldedRows(name, rows, positions) {
  const isUnfolded = unfolded().includes(name);
  const notable = [...rows].filter(([, row]) => [...row.values()].some(isNotable)).slice(0, NOTABLE_SHOWN);
  const visible = isUnfolded ? [...rows] : notable;
  const folds = rows.size > notable.length, more = rows.size - notable.length;
  const button = folds && h("button", { type: "button", "data-unfold": name, "aria-expanded": isUnfolded ? "true" : "false" }, isUnfolded ? "\u25be fold " + more : "\u25b8 " + more + " more");
  const head = h("th", { scope: "rowgroup" }, name, h("div", { class: "quiet" }, rows.size + (rows.size === 1 ? " model" : " models")), button || "");
  const counts = positions.map((place) => h("td", {}, summary([...rows.values()].map((row) => row.get(place)).filter(Boolean))));
  return [h("tr", { class: "architecture" }, head, counts), ...modelRows(visible, positions, false)];
}

/** The number of models by the status of their numbers, then by that of other checks if it is severe. */
function summary(column) {
  const line = (statuses, title) => {
    const counts = data.statuses.map((_, status) => [status, statuses.filter((other) => other === status).length]).filter(([, count]) => count);
    return counts.length ? h("div", {}, title, counts.map(([status, count]) => h("span", { class: "count s " + cssClass(status) }, mark(status), " " + count))) : "";
  };
  const others = column.map((cell) => cell.others).filter(({ status, all }) => all > 0 && isSevere(status));
  return [line(column.map((cell) => cell.status), ""), line(others.map(({ status }) => status), "others: ")];
}

const unfolded = () => state.unfold.split(",").filter(Boolean);

/** Shows all models of an architecture, or only the notable ones. */
function toggle(name) {
  const others = unfolded().filter((other) => other !== name);
  state.unfold = (unfolded().length > others.length ? others : [...others, name]).join(",");
  drawMatrix();
  writeAddress();
  const button = $("matrix").querySelector("[data-unfold=\"" + CSS.escape(name) + "\"]");
  if (button) button.focus();
}
