const text = (number) => (number === null || number === undefined ? "" : data.strings[number]);
const word = (status) => data.statuses[status][0];
const cssClass = (status) => word(status).replace(" ", "-");

/** Sign and word, which distinguish statuses without colour. */
function mark(status) {
  return h("span", { class: "mark-" + cssClass(status) }, h("span", { class: "sign", "aria-hidden": "true" }, data.statuses[status][1]), " ", word(status));
}

/** The error of a tensor, or the reason why it has none. */
function errorText(error, nonFinite) {
  if (nonFinite > 0) return "NaN or infinity in " + nonFinite + (nonFinite === 1 ? " element" : " elements");
  return error === null ? "not comparable" : number(error);
}

/** One output of a check, with names for the elements of its row. */
function output(row) {
  const [name, error, largest, thresholds, nonFinite, worst] = row;
  const [limit, largestLimit] = data.thresholds[thresholds];
  const outside = nonFinite > 0 || error === null || largest === null || error > limit || largest > largestLimit;
  const of = (threshold, value) => (value === null ? 0 : value === 0 ? 1e6 : threshold / value);
  const headroom = nonFinite > 0 ? 0 : Math.min(1e6, of(limit, error), of(largestLimit, largest));
  return { name: data.strings[name], error, largest, limit, largestLimit, headroom, outside, nonFinite: nonFinite || 0, worst: worst || [] };
}

function headroomText(headroom) {
  if (headroom === null || headroom === undefined || headroom === 0) return "";
  return headroom >= 1e6 ? "exact" : "\u00d7" + number(headroom);
}

/** `status` is that of the numbers; `others` has the most severe status of the other checks, the number of checks with it, and of all. */
const cells = data.cells.map(([model, column, precision, status, error, headroom, nonFinite, first, milliseconds, memory, [worst, count, all], rows]) => {
  const name = data.models[model][0];
  const key = name + "|" + column + "|" + data.precisions[precision];
  const others = { status: worst, count, all };
  return { model, column, precision, status, error, headroom, nonFinite, milliseconds, memory, name, key, others, first: first === null ? null : data.strings[first], rows };
});

/** Whether a status is neither pass, simulated nor ignored; statuses are in order of severity. */
const isSevere = (status) => status <= data.statuses.findIndex(([name]) => name === "incomplete");
const isNotable = (cell) => isSevere(cell.status) || (cell.others.all > 0 && isSevere(cell.others.status));

/** The state of the other checks, apart from that of the numbers: `expected failure 2 of 25`. */
function othersText({ status, count, all }) {
  if (all === 0) return "";
  return isSevere(status) ? word(status) + " " + count + " of " + all : word(status) + " " + count;
}

/** The checks of a cell, decoded on first use: a large report has tens of thousands. */
function checksOf(cell) {
  cell.checks = cell.checks || cell.rows.map((row) => ({
    check: data.checks[row[0]][0], isNumbers: data.checks[row[0]][1], status: row[1], red: row[2] === 1, reason: text(row[3]), note: text(row[4]),
    milliseconds: row[5], memory: row[6], source: data.sources[row[7]], first: row[8] === null ? null : data.strings[row[8]], rows: row[9],
    depth: text(row[10]), layers: (row[11] || []).map(([name, error, reference]) => ({ name: data.strings[name], error, reference })),
  }));
  return cell.checks;
}
