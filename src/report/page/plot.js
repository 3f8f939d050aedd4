/** The hidden states that a cell compared: those of `layer_trace_golden`, or of a failed check that traced its layers. */
function trace(cell) {
  for (const check of checksOf(cell)) {
    const layers = check.rows.map(output).filter((layer) => layer.name.startsWith("trace."));
    if (layers.length > 1) return layers;
  }
  return [];
}

/** Error by layer on a logarithmic scale: a ring within the threshold, a cross outside, the threshold as a dotted line. */
function plot(cell) {
  const layers = trace(cell);
  if (layers.length === 0) return h("p", { class: "quiet" }, "No layers were compared in this precision.");
  const values = layers.flatMap((layer) => [layer.error, layer.limit]).filter((value) => value > 0);
  const low = Math.floor(Math.log10(Math.min(...values))), high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...values))));
  const width = Math.max(420, 60 + layers.length * 26), height = 230, left = 56, bottom = 190;
  const x = (index) => left + 14 + (index * (width - left - 40)) / Math.max(1, layers.length - 1);
  const y = (value) => (value === null ? 16 : value <= 0 ? bottom : bottom - ((Math.log10(value) - low) * (bottom - 16)) / (high - low));
  const parts = [];
  for (let power = low; power <= high; power += 1) {
    parts.push(svg("line", { class: "axis", x1: left, x2: width - 10, y1: y(10 ** power), y2: y(10 ** power) }));
    parts.push(svg("text", { x: left - 6, y: y(10 ** power) + 4, "text-anchor": "end" }, "1e" + power));
  }
  const path = (key) => layers.map((layer, index) => (index ? "L" : "M") + x(index).toFixed(1) + " " + y(layer[key]).toFixed(1)).join("");
  parts.push(svg("path", { class: "limit", d: path("limit") }), svg("path", { class: "error", d: path("error") }));
  const step = Math.ceil(layers.length / 16);
  layers.forEach((layer, index) => {
    const [cx, cy] = [x(index), y(layer.nonFinite ? null : layer.error)];
    const tooltip = svg("title", {}, layer.name.slice(6) + ": error " + errorText(layer.error, layer.nonFinite) + ", allowed " + number(layer.limit));
    const cross = "M" + (cx - 5) + " " + (cy - 5) + "l10 10m0 -10l-10 10";
    parts.push(layer.outside ? svg("path", { class: "outside", d: cross }, tooltip) : svg("circle", { class: "mark", cx, cy, r: 4 }, tooltip));
    if (index % step === 0) parts.push(svg("text", { x: cx, y: bottom + 16, "text-anchor": "middle" }, layer.name.slice(6).replace("layer.", "")));
  });
  const caption = "Error (rel-L2) by layer: rings are within the dotted threshold, crosses are outside.";
  const figure = svg("svg", { viewBox: "0 0 " + width + " " + height, width, height, role: "img", "aria-label": caption }, ...parts);
  return h("figure", {}, h("div", { class: "scroll" }, figure), h("figcaption", { class: "quiet" }, caption + " The table of tensors has the numbers."));
}
