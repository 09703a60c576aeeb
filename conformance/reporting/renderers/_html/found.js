// What a search finds beside subjects, and what to do if it finds nothing.
const MAX_FOUND = 6;
const LEAST_SIMILAR = 0.3;
const KINDS = [
  ["rules", "rule", (row) => !["probes", "claims"].includes(row.family)],
  ["probes", "probe", (row) => row.family === "probes"],
  ["claims", "claim", (row) => row.family === "claims"],
];

function rowsNamed(q) {
  const words = q.toLowerCase().split(/\s+/).filter(Boolean);
  return index.rows.filter((row) => words.every((word) => `${row.name} ${row.title}`.toLowerCase().includes(word)));
}

function alsoFound(state, rows) {
  return KINDS.flatMap(([view, noun, isOf]) => {
    const found = rows.filter(isOf);
    if (!found.length) return [];
    const all = make("a", { href: writeAddress({ view, q: state.q }) }, plural(found.length, noun));
    const names = found.slice(0, MAX_FOUND).map((row) => make("code", {}, row.name.replace(/^(probes|claims)\//, "")));
    return [make("p", { class: "also" }, all, ": ", ...joined(names, ", "), found.length > MAX_FOUND ? " …" : "")];
  });
}

function nothingFound(state) {
  const names = [...new Set([...factTables.flatMap(({ rows }) => rows.map((row) => row.name)), ...Object.keys(index.aliases), ...families.map(({ title }) => title)])];
  const near = names.map((name) => [similarity(name, state.q), name]).sort(([a], [b]) => b - a).slice(0, 3);
  const links = near.filter(([score]) => score > LEAST_SIMILAR).map(([, name]) => make("a", { href: writeAddress({ ...state, q: name, at: "" }) }, name));
  const where = state.wire ? ` on ${index.wires[state.wire]}` : "";
  if (!state.q) return make("p", {}, `Nothing was tested${where}.`);
  const text = `No provider or SDK${where} has “${state.q}” in its name, model or values.`;
  return make("p", {}, text, ...(links.length ? [" Did you mean ", ...joined(links, ", "), "?"] : []));
}

// The share of pairs of letters that two words have in common.
function similarity(name, q) {
  const pairs = (text) => new Set([...text].slice(1).map((_, at) => text.slice(at, at + 2)));
  const [a, b] = [pairs(name.toLowerCase()), pairs(q.toLowerCase())];
  return (2 * [...a].filter((pair) => b.has(pair)).length) / (a.size + b.size || 1);
}
