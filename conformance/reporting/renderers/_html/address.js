// The address after the hash: `/<subject>/<row>/<variant>/<evidence>` of the open cell, then `?` and what is filtered.
const LISTS = ["kind", "family", "verdict", "evidence"];
const WORDS = ["q", "rule", "provider"];

function readAddress(hash) {
  const text = hash.replace(/^#/, "");
  const [path] = text.split("?", 1);
  const given = new URLSearchParams(text.slice(path.length + 1));
  const filter = {};
  for (const name of WORDS) filter[name] = given.get(name) ?? "";
  for (const name of LISTS) filter[name] = (given.get(name) ?? "").split(",").filter(Boolean);
  return { place: path.startsWith("/") ? path.slice(1).split("/").map(decoded) : [], filter };
}

function writeAddress(place, filter) {
  const given = new URLSearchParams();
  for (const name of WORDS) if (filter[name]) given.set(name, filter[name]);
  for (const name of LISTS) if (filter[name]?.length) given.set(name, filter[name].join(","));
  const path = place.length ? `/${place.map(encodeURIComponent).join("/")}` : "";
  const query = given.toString();
  return `#${path}${query && `?${query}`}`;
}

// Addresses are typed and shortened by people; what is no encoding stands for itself.
function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function placeOf(cell) {
  const { name } = data.subjects[cell.subject];
  return [name, data.rows[cell.row].name, cell.variant, data.evidence[cell.evidence].name];
}

// The cells at a place, the named one first; variant and evidence may be left out.
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
