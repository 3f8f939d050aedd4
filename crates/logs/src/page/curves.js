/** The points of a metric in one log. */
const pointsOf = (log, metric) => log.curve.points.filter((point) => metric in point).map((point) => [point.step, point[metric]]);

/** Curves of a metric by step: the first log is solid, the second is dashed; crosses mark losses that are NaN or infinite. */
function curves(metric, label) {
  const lines = data.logs.map((log) => pointsOf(log, metric));
  const all = lines.flat();
  if (all.length === 0) return null;
  const steps = all.map(([step]) => step), values = all.map(([, value]) => value);
  const [least, most] = [steps.reduce((a, b) => Math.min(a, b)), steps.reduce((a, b) => Math.max(a, b))];
  const [low, high] = [values.reduce((a, b) => Math.min(a, b)), values.reduce((a, b) => Math.max(a, b))];
  const width = 760, height = 240, left = 86, bottom = 200, top = 16;
  const x = (step) => left + ((step - least) * (width - left - 16)) / Math.max(1, most - least);
  const y = (value) => bottom - ((value - low) * (bottom - top)) / (high - low || 1);
  const parts = [low, (low + high) / 2, high].flatMap((value) => [
    svg("line", { class: "axis", x1: left, x2: width - 10, y1: y(value), y2: y(value) }),
    svg("text", { x: left - 6, y: y(value) + 4, "text-anchor": "end" }, valueText(metric, value)),
  ]);
  for (const step of [least, most]) parts.push(svg("text", { x: x(step), y: bottom + 18, "text-anchor": step === least ? "start" : "end" }, "step " + step));
  lines.forEach((points, index) => {
    const path = points.map(([step, value], at) => (at ? "L" : "M") + x(step).toFixed(1) + " " + y(value).toFixed(1)).join("");
    const name = svg("title", {}, data.logs[index].summary.path);
    if (points.length === 1) parts.push(svg("circle", { class: "mark", cx: x(points[0][0]), cy: y(points[0][1]), r: 4 }, name));
    else if (path) parts.push(svg("path", { class: index ? "limit" : "error", d: path }, name));
    if (metric === "loss") parts.push(...crosses(data.logs[index].summary, x, top));
  });
  const caption = label + " by step" + (lines.length > 1 ? ": the first log is solid, the second is dotted." : ".");
  const figure = svg("svg", { viewBox: "0 0 " + width + " " + height, width, height, role: "img", "aria-label": caption }, ...parts);
  return h("figure", {}, h("div", { class: "scroll" }, figure), h("figcaption", { class: "quiet" }, caption));
}

/** The kept places of losses that are NaN or infinite, at the top of the plot. */
function crosses(summary, x, top) {
  const cross = ({ step }) => "M" + (x(step) - 5) + " " + (top - 5) + "l10 10m0 -10l-10 10";
  return summary.non_finite.map((place) => svg("path", { class: "outside", d: cross(place) }, svg("title", {}, "step " + place.step + ", line " + place.line + ": " + place.value)));
}

/** A value in the unit of the metric; memory in a binary unit. */
function valueText(metric, value) {
  return metric === "memory" ? bytes(value) : number(value, 3);
}
