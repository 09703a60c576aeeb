// Filters of the tables of cells. A group without a checked box lets all cells pass.
const GROUPS = [
  ["verdict", "Result", index.verdicts.map(({ name, mark, word }) => [name, mark, word])],
  ["evidence", "Evidence", index.evidence.map(({ name, mark, word }) => [name, mark, word])],
  ["kind", "Kind", [...new Set(index.subjects.map(({ kind }) => kind))].map((kind) => [kind, "", kind])],
];

const UNFILTERED = { verdict: [], evidence: [], kind: [], wire: "", only: "" };

function buildFilters(holder, changed) {
  const groups = [...GROUPS, ["only", "Sources", [["contested", "≠", "contested"]]]].map(([name, title, options]) => filterGroup(name, title, options));
  const clear = make("button", { type: "button" }, "Clear filters");
  const form = make("form", {}, ...groups, clear);
  const read = (name) => new FormData(form).getAll(name);
  form.addEventListener("input", () => changed({ ...Object.fromEntries(GROUPS.map(([name]) => [name, read(name)])), only: read("only")[0] ?? "" }));
  form.addEventListener("submit", (event) => event.preventDefault());
  clear.addEventListener("click", () => changed(UNFILTERED));
  holder.append(make("details", {}, make("summary", {}, "Filter by result, evidence and kind"), form));
}

function filterGroup(name, title, options) {
  const boxes = options.map(([value, mark, word]) => {
    const box = make("input", { type: "checkbox", name, value });
    const symbol = mark ? [make("span", { class: `${value} mark`, "aria-hidden": "true" }, mark)] : [];
    return make("label", {}, box, " ", ...symbol, ` ${word}`);
  });
  return make("fieldset", {}, make("legend", {}, title), ...boxes);
}

function writeFilters(holder, state) {
  for (const box of holder.querySelectorAll("input")) box.checked = [state[box.name]].flat().includes(box.value);
}

// Each word must be in the subject or in the row: `deepseek ids` finds the cells of DeepSeek about ids.
function passing(state) {
  const words = state.q.toLowerCase().split(/\s+/).filter(Boolean);
  const holds = (texts) => words.map((word) => texts.map((text) => text.toLowerCase().includes(word)));
  const called = (service) => (index.aliases[service] ?? []).join(" ");
  const bySubject = holds(index.subjects.map(({ name, title, model, service }) => `${name} ${title} ${model} ${called(service)}`));
  const byRow = holds(index.rows.map(({ name, title }) => `${name} ${title}`));
  const isOfView = KINDS.find(([view]) => view === state.view)[2];
  const rows = index.rows.map(isOfView);
  const subjects = index.subjects.map(({ kind, wire }) => allows(state.kind, kind) && (!state.wire || state.wire === wire));
  const verdicts = index.verdicts.map(({ name }) => allows(state.verdict, name));
  const evidence = index.evidence.map(({ name }) => allows(state.evidence, name));
  return matrix().cells.filter(
    (cell) =>
      rows[cell.row] &&
      subjects[cell.subject] &&
      verdicts[cell.verdict] &&
      evidence[cell.evidence] &&
      (state.only !== "contested" || isContestedCell(cell)) &&
      words.every((_, number) => bySubject[number][cell.subject] || byRow[number][cell.row]),
  );
}

function allows(wanted, name) {
  return !wanted.length || wanted.includes(name);
}

function isFiltered(state) {
  return Boolean(state.wire || state.only) || GROUPS.some(([name]) => state[name].length);
}

// Why nothing passes: the search alone, or the filters that hide what it finds.
function whyEmpty(state) {
  const without = isFiltered(state) ? passing({ ...state, ...UNFILTERED }).length : 0;
  if (without) return `The filters hide all ${plural(without, "cell")} that “${state.q || "no search"}” finds.`;
  return `Nothing here has “${state.q}” in the name or title of a subject, or of one of the ${state.view}.`;
}
