/** Everything but the matrix, drawn once. */
function drawFrame() {
  $("result").replaceChildren(h("span", { class: "s " + (data.green ? "pass" : "fail") }, data.green ? " \u2713 passed " : " \u2717 FAILED "));
  $("problems").hidden = data.problems.length === 0;
  $("problems").querySelector("ul").replaceChildren(...data.problems.map((problem) => h("li", {}, problem)));
  $("counts").replaceChildren(...counts());
  $("legend").replaceChildren(...data.statuses.flatMap(([, , meaning], status) => [h("dt", { class: "s " + cssClass(status) }, mark(status)), h("dd", {}, meaning)]));
  $("devices").replaceChildren(devices());
  fillFilters();
  if (data.base) drawBase();
}

/** The number of checks by status: those of numbers, then the others. */
function counts() {
  const line = (name, counts) => {
    const shown = counts.map((count, status) => [status, count]).filter(([, count]) => count);
    return h("div", {}, name + ": ", shown.length ? shown.flatMap(([status, count]) => [h("span", { class: "s " + cssClass(status) }, " " + count + " ", mark(status), " "), " "]) : "none");
  };
  return [line("Numbers", data.counts[0]), line("Other checks", data.counts[1])];
}

function fillFilters() {
  const choices = (id, names) => $(id).replaceChildren(h("option", { value: "" }, "all"), ...names.map(([value, name]) => h("option", { value }, name)));
  choices("status", data.statuses.map(([name, sign]) => [name, sign + " " + name]));
  const kinds = [...new Set(data.columns.map((column) => column.device))];
  choices("device", [...kinds.map((kind) => [kind, kind]), ...data.columns.map((column, index) => [String(index), column.label])]);
  choices("precision", data.precisions.map((name) => [name, name]));
}

function devices() {
  const heads = ["device", "architecture", "driver", "runtime", "detected by", "memory", "f32 products", "testgen", "reports"];
  const fields = ["architecture", "driver_version", "runtime_version", "path"];
  const values = (column, key) => [...new Set(column.hardware.map((hardware) => hardware[key]).filter(Boolean))].join(", ") || "unknown";
  const row = (column) => h("tr", {}, h("th", { scope: "row" }, column.label), fields.map((key) => h("td", {}, values(column, key))),
    h("td", { class: "number" }, bytes(column.memory)), h("td", {}, column.tf32 ? "TF32" : "f32"),
    h("td", {}, column.testgen.join(", ")), h("td", {}, column.sources.map((source) => data.sources[source]).join(", ")));
  return table("Devices and versions", heads, data.columns.map(row));
}

function drawBase() {
  const models = (names) => (names.length ? h("details", {}, h("summary", {}, names.length + " models"), names.join(", ")) : "");
  const rows = data.base.checks.map(([change, check, ...fields]) => h("tr", {}, h("td", {}, change), h("td", { class: "reason" }, check, models(fields.pop())),
    fields.map((field) => h("td", { class: "reason" }, field))));
  const counts = data.base.counts.map(([name, count]) => count + " " + name).join(", ") || "nothing to compare";
  const heads = ["change", "check", "base", "this report", "why"];
  $("base").hidden = false;
  $("base").append(h("p", {}, counts), rows.length ? h("div", { class: "scroll" }, table("Differences to the base", heads, rows)) : "");
}
