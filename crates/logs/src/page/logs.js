const started = performance.now();
const cell = (content) => h("td", { class: "number" }, content);
const rowHead = (content) => h("th", { scope: "row" }, content);
const known = data.metrics.filter(([name]) => data.logs.some((log) => name in log.summary.metrics));

/** One log: where its numbers are from, losses that are NaN or infinite, lines of unknown form, and a table. */
function logSection({ summary, formats }) {
  const counted = summary.steps_are_counted ? " (numbers of lines: the trainer does not print steps)" : "";
  const lines = summary.lines + " lines: " + summary.records + " with numbers of a step, " + summary.parts + " other lines of trainers, "
    + summary.progress + " progress bars, " + summary.unmatched + " unmatched";
  const places = summary.non_finite.map((place) => h("li", {}, "line " + place.line + ", step " + place.step + ": loss: " + place.value));
  const keys = ["first", "last", "min", "max", "mean"];
  const value = (metric, key) => (summary.metrics[metric][key] === null ? "" : valueText(metric, summary.metrics[metric][key]));
  const rows = data.metrics.filter(([name]) => name in summary.metrics).map(([name, label]) => h("tr", {}, rowHead(label.replace(" (GiB)", "")),
    cell(summary.metrics[name].count), keys.map((key) => cell(value(name, key))), cell(summary.metrics[name].non_finite)));
  return [
    h("h2", {}, summary.path),
    h("p", {}, formats.join(", ") + "; steps " + summary.first_step + " to " + summary.last_step + counted),
    h("p", { class: "quiet" }, lines),
    places.length ? h("div", {}, h("h3", {}, "NaN or infinite losses: " + summary.non_finite_losses), h("ul", {}, places)) : "",
    summary.unmatched_examples.length ? h("pre", { class: "quiet" }, summary.unmatched_examples.join("\n")) : "",
    h("div", { class: "scroll" }, table("Metrics", ["metric", "values", "first", "last", "smallest", "largest", "mean", "NaN or inf"], rows)),
  ];
}

function comparisonParts({ steps_per_point: interval, common, only_first: first, only_second: second, metrics }) {
  const counts = common + " common steps, " + first + " in the first log alone, " + second + " in the second";
  const rows = data.metrics.filter(([name]) => name in metrics).map(([name, label]) => {
    const found = metrics[name];
    const numbers = [found.first, found.second].map((value) => cell(valueText(name, value)));
    return h("tr", {}, rowHead(label.replace(" (GiB)", "")), cell(found.common), numbers, cell(number(found.median_ratio, 3)),
      cell(number(found.mean_difference)), cell(number(found.largest_difference)), cell(found.largest_at));
  });
  const heads = ["metric", "steps", "first", "second", "ratio", "mean difference", "largest", "at step"];
  return [h("p", {}, counts + (interval > 1 ? "; each is an interval of " + interval + " steps" : "")), h("div", { class: "scroll" }, table("Comparison", heads, rows))];
}

$("result").replaceChildren(h("span", { class: "s " + (data.green ? "pass" : "fail") }, (data.green ? " \u2713 " : " \u2717 ") + data.result + " "));
$("logs").replaceChildren(...data.logs.flatMap(logSection).filter(Boolean));
$("comparison").hidden = !data.comparison;
if (data.comparison) $("comparison").append(...comparisonParts(data.comparison));
$("curves").replaceChildren(...known.map(([name, label]) => curves(name, label.replace(" (GiB)", ""))).filter(Boolean));
document.body.dataset.ready = String(Math.round(performance.now() - started));
