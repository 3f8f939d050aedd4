/** The details of one cell: failures first, then the plot, then every check. */
function detail(cell) {
  const column = data.columns[cell.column];
  const title = cell.name + " in " + data.precisions[cell.precision] + " on " + column.label;
  const wrong = checksOf(cell).filter((check) => check.red || word(check.status) === "expected failure");
  return [
    h("h2", { id: "detail-title" }, title, " ", h("button", { type: "button", id: "close", onclick: () => open(null) }, "Close")),
    h("p", { id: "numbers-status" }, "Numbers: ", mark(cell.status), ": " + data.statuses[cell.status][2] + "."),
    cell.others.all ? h("p", { id: "others-status" }, "Other checks: ", mark(cell.others.status), ": " + cell.others.count + " of " + cell.others.all + ".") : "",
    column.simulated ? h("p", { class: "note-simulated" }, "Simulated device: nothing here was computed on hardware.") : "",
    cell.first ? h("p", { id: "first-diverging" }, "First diverging layer: ", h("strong", {}, cell.first)) : "",
    wrong.map(failure),
    h("h3", {}, "Error by layer"), depth(cell), plot(cell),
    checkTable("Checks of numbers", checksOf(cell).filter((check) => check.isNumbers)),
    checkTable("Other checks", checksOf(cell).filter((check) => !check.isNumbers)),
    tensors(cell),
  ];
}

/** The sentence about the errors by layer, of the first check in which they rise. */
function depth(cell) {
  const found = checksOf(cell).filter((check) => check.isNumbers).map((check) => check.depth).filter(Boolean);
  const sentence = found.find((text) => text.startsWith("errors rise")) || found[0];
  return sentence ? h("p", { id: "depth" }, "Layers: " + sentence) : "";
}

function failure(check) {
  const outside = check.rows.map(output).filter((tensor) => tensor.outside);
  return h("div", { class: "bad", "data-check": check.check },
    h("h3", {}, mark(check.status), " " + check.check),
    check.note ? h("p", { class: "note" }, check.note) : "",
    h("p", { class: "reason" }, check.reason || "no reason given"),
    check.first ? h("p", {}, "First diverging layer: ", h("strong", {}, check.first)) : "",
    outside.slice(0, 8).map(worstElements),
    outside.length > 8 ? h("p", {}, "and " + (outside.length - 8) + " more tensors outside their thresholds") : "");
}

function worstElements(tensor) {
  const caption = tensor.name + ": error " + errorText(tensor.error, tensor.nonFinite) + ", allowed " + number(tensor.limit);
  if (tensor.worst.length === 0) return h("p", {}, caption);
  const value = (number) => (number === null ? "NaN or infinity" : String(number));
  const rows = tensor.worst.map(([index, expected, got]) =>
    h("tr", {}, h("td", {}, "[" + index.join(", ") + "]"), h("td", { class: "number" }, value(expected)), h("td", { class: "number" }, value(got))));
  return h("div", { class: "worst" }, h("p", {}, caption), table("Elements with the largest errors in " + tensor.name, ["element", "expected", "got"], rows));
}

function checkTable(title, checks) {
  const rows = checks.map((check) => {
    const tightest = check.rows.map(output).sort((a, b) => a.headroom - b.headroom)[0];
    return h("tr", { class: "s " + cssClass(check.status) },
      h("th", { scope: "row" }, check.check), h("td", {}, mark(check.status)),
      h("td", { class: "number" }, tightest ? errorText(tightest.error, tightest.nonFinite) : ""),
      h("td", { class: "number" }, tightest ? headroomText(tightest.headroom) : ""),
      h("td", { class: "number" }, time(check.milliseconds)), h("td", { class: "number" }, bytes(check.memory)),
      h("td", { class: "reason" }, [check.note, check.reason].filter(Boolean).join("\n")), h("td", {}, check.source));
  });
  const heads = ["check", "status", "error", "headroom", "time", "memory", "reason", "report"];
  return rows.length ? [h("h3", {}, title), h("div", { class: "scroll" }, table(title, heads, rows))] : [];
}

/** Every compared tensor, collapsed. */
function tensors(cell) {
  const rows = checksOf(cell).flatMap((check) => check.rows.map(output).map((tensor) =>
    h("tr", {}, h("td", {}, check.check), h("td", {}, tensor.name), h("td", { class: "number" }, errorText(tensor.error, tensor.nonFinite)),
      h("td", { class: "number" }, number(tensor.limit)), h("td", { class: "number" }, number(tensor.largest)),
      h("td", { class: "number" }, number(tensor.largestLimit)), h("td", { class: "number" }, headroomText(tensor.headroom)))));
  if (rows.length === 0) return h("p", { class: "quiet" }, "No tensors were compared.");
  const heads = ["check", "tensor", "rel-L2", "allowed", "largest", "allowed", "headroom"];
  return h("details", {}, h("summary", {}, rows.length + " compared tensors"), h("div", { class: "scroll" }, table("Compared tensors", heads, rows)));
}
