// The address after the hash: `/<subject>/<row>/<variant>/<evidence>` of the open cell, then `?` and the filters.
const LISTS = ["kind", "family", "verdict", "evidence"];
const WORDS = ["q", "rule", "provider"];

function readAddress(hash) {
  const text = hash.replace(/^#/, "");
  const [path] = text.split("?", 1);
  const given = new URLSearchParams(text.slice(path.length + 1));
  const filter = {};
  for (const name of WORDS) filter[name] = given.get(name) ?? "";
  for (const name of LISTS) filter[name] = (given.get(name) ?? "").split(",").filter(Boolean);
  return { cellPath: path.startsWith("/") ? path.slice(1).split("/").map(decoded) : [], filter };
}

function writeAddress(cellPath, filter) {
  const given = new URLSearchParams();
  for (const name of WORDS) if (filter[name]) given.set(name, filter[name]);
  for (const name of LISTS) if (filter[name]?.length) given.set(name, filter[name].join(","));
  const path = cellPath.length ? `/${cellPath.map(encodeURIComponent).join("/")}` : "";
  const query = given.toString();
  return `#${path}${query && `?${query}`}`;
}

// People type and shorten addresses; text that is not a valid encoding is used as it is.
function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function pathOf(cell) {
  const { name } = data.subjects[cell.subject];
  return [name, data.rows[cell.row].name, cell.variant, data.evidence[cell.evidence].name];
}

// The cells of a subject and row, the one with this variant and evidence first; both may be omitted.
function cellsAt([name, rowName, variant, evidence]) {
  const subject = data.subjects.findIndex((each) => each.name === name);
  const row = data.rows.findIndex((each) => each.name === rowName);
  const found = crossings.get(crossing({ subject, row })) ?? [];
  const named = found.find(
    (cell) =>
      (variant === undefined || cell.variant === variant) &&
      (evidence === undefined || data.evidence[cell.evidence].name === evidence),
  );
  return named && subject >= 0 && row >= 0 ? [named, ...found.filter((cell) => cell !== named)] : [];
}
