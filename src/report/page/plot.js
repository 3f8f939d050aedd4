/** The hidden states of the first check that compared several, or that measured them because the model is deep. */
function trace(cell) {
  for (const check of checksOf(cell)) {
    const own = new Map(check.layers.map((layer) => [layer.name, layer.reference]));
    const compared = check.rows.map(output).filter((layer) => layer.name.startsWith("trace."));
    const measured = () => check.layers.map(({ name, error }) => ({ name: "trace." + name, error, limit: null, nonFinite: 0, outside: false }));
    const layers = compared.length > 1 ? compared : measured();
    if (layers.length > 1) return layers.map((layer) => ({ ...layer, reference: own.get(layer.name.slice(6)) ?? null }));
  }
  return [];
}

/** Error by layer on a logarithmic scale: a ring within the threshold, a cross outside, the threshold dotted, the reference's own error dashed. */
function plot(cell) {
  const layers = trace(cell);
  if (layers.length === 0) return h("p", { class: "quiet" }, "No layers were compared in this precision.");
  const values = layers.flatMap((layer) => [layer.error, layer.limit, layer.reference]).filter((value) => value > 0);
  const low = Math.floor(Math.log10(Math.min(...values))), high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...values))));
  const width = Math.max(420, 60 + layers.length * 26), height = 230, left = 56, bottom = 190;
  const x = (index) => left + 14 + (index * (width - left - 40)) / Math.max(1, layers.length - 1);
  const y = (value) => (value === null ? 16 : value <= 0 ? bottom : bottom - ((Math.log10(value) - low) * (bottom - 16)) / (high - low));
  const parts = [];
  for (let power = low; power <= high; power += 1) {
    parts.push(svg("line", { class: "axis", x1: left, x2: width - 10, y1: y(10 ** power), y2: y(10 ** power) }));
    parts.push(svg("text", { x: left - 6, y: y(10 ** power) + 4, "text-anchor": "end" }, "1e" + power));
  }
  const point = (layer, index, key) => x(index).toFixed(1) + " " + y(layer[key]).toFixed(1);
  const points = (key) => layers.map((layer, index) => (key !== "error" && layer[key] === null ? "" : point(layer, index, key))).filter(Boolean);
  const path = (key) => points(key).map((point, index) => (index ? "L" : "M") + point).join("");
  const known = ["limit", "reference"].filter((key) => points(key).length > 0);
  parts.push(...[...known, "error"].map((key) => svg("path", { class: key, d: path(key) })));
  const step = Math.ceil(layers.length / 16);
  layers.forEach((layer, index) => {
    const [cx, cy] = [x(index), y(layer.nonFinite ? null : layer.error)];
    const tooltip = svg("title", {}, layer.name.slice(6) + ": error " + errorText(layer.error, layer.nonFinite) + (layer.limit === null ? "" : ", allowed " + number(layer.limit))
      + (layer.reference === null ? "" : ", the reference's own " + number(layer.reference)));
    const cross = "M" + (cx - 5) + " " + (cy - 5) + "l10 10m0 -10l-10 10";
    parts.push(layer.outside ? svg("path", { class: "outside", d: cross }, tooltip) : svg("circle", { class: "mark", cx, cy, r: 4 }, tooltip));
    if (index % step === 0) parts.push(svg("text", { x: cx, y: bottom + 16, "text-anchor": "middle" }, layer.name.slice(6).replace("layer.", "")));
  });
  const captions = ["Error (rel-L2) by layer", known.includes("limit") ? "rings are within the dotted threshold, crosses are outside" : "", known.includes("reference") ? "dashed is the reference's own error in this precision" : ""];
  const caption = captions.filter(Boolean).join("; ") + ".";
  const figure = svg("svg", { viewBox: "0 0 " + width + " " + height, width, height, role: "img", "aria-label": caption }, ...parts);
  return h("figure", {}, h("div", { class: "scroll" }, figure), h("figcaption", { class: "quiet" }, caption + " The table of tensors has the numbers."));
}
