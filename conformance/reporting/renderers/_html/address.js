// The address after the hash: `/<view>/<path>`, then `?` with the search, the order, pins, filters and the place.
const VIEWS = ["sdks", "agents", "gateways", "models", "model", "rules", "probes", "claims", "changes", "trust", "compare", "of", "cell"];
const WORDS = ["q", "wire", "ask", "only", "sort", "at"];
const LISTS = ["verdict", "evidence", "kind", "pin"];

function readAddress(hash) {
  const text = hash.replace(/^#/, "");
  const [place] = text.split("?", 1);
  const given = new URLSearchParams(text.slice(place.length + 1));
  const [view, ...path] = place.startsWith("/") ? place.slice(1).split("/").map(decoded) : [""];
  const state = VIEWS.includes(view) ? { view, path } : { view: "", path: [] };
  for (const name of WORDS) state[name] = given.get(name) ?? "";
  for (const name of LISTS) state[name] = given.getAll(name).filter(Boolean);
  if (!Object.hasOwn(index.wires, state.wire)) state.wire = "";
  return state;
}

function writeAddress({ view = "", path = [], ...state }) {
  const given = new URLSearchParams();
  for (const name of WORDS) if (state[name]) given.set(name, state[name]);
  for (const name of LISTS) for (const each of state[name] ?? []) given.append(name, each);
  const query = given.toString();
  return `#/${[view, ...path].map(encodeURIComponent).join("/")}${query && `?${query}`}`;
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
  const { name } = index.subjects[cell.subject];
  return [name, index.rows[cell.row].name, cell.variant, index.evidence[cell.evidence].name];
}

function addressOf(cell) {
  return writeAddress({ view: "cell", path: pathOf(cell) });
}

// The cells of a subject and row, the one with this variant and evidence first; both may be omitted.
function cellsAt([name, rowName, variant, evidence]) {
  const subject = subjectNumber(name);
  const row = rowNumber(rowName);
  const found = subject < 0 || row < 0 ? [] : cellsAtCrossing(subject, row);
  const named = found.find(
    (cell) =>
      (variant === undefined || cell.variant === variant) &&
      (evidence === undefined || index.evidence[cell.evidence].name === evidence),
  );
  return named ? [named, ...found.filter((cell) => cell !== named)] : [];
}
