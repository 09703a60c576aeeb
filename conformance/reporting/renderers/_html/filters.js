// The filters, and the cells that pass them. A group without a checked box lets all cells pass.
const GROUPS = [
  ["verdict", "Verdict", data.verdicts],
  ["evidence", "Evidence", data.evidence],
  ["kind", "Kind", namesOf(data.subjects.map((subject) => subject.kind))],
  ["family", "Family", namesOf(families)],
];

function namesOf(names) {
  return [...new Set(names)].map((name) => ({ name, short: "" }));
}

function buildForm(form) {
  const providers = [...new Set(data.subjects.map((subject) => subject.provider))].sort();
  form.append(
    field("q", "Provider, engine or adapter", make("input", { type: "search", list: "names", autocomplete: "off" })),
    make("datalist", { id: "names" }, ...data.subjects.map(({ name }) => make("option", { value: name }))),
    field("rule", "Rule, probe or claim", make("input", { type: "search", autocomplete: "off" })),
    field("provider", "Checked against profile", choice(providers)),
    make("details", { id: "groups", open: "" }, make("summary", {}, "Verdict, evidence, kind and family"), ...groups()),
    make("button", { type: "reset" }, "Clear filters"),
  );
}

function groups() {
  return GROUPS.map(([name, title, options]) => group(name, title, options));
}

function field(name, title, control) {
  control.setAttribute("id", `f-${name}`);
  control.setAttribute("name", name);
  return make("div", { class: "field" }, make("label", { for: `f-${name}` }, title), control);
}

function choice(names) {
  const options = names.map((name) => make("option", { value: name }, name));
  return make("select", {}, make("option", { value: "" }, "any"), ...options);
}

function group(name, title, options) {
  const boxes = options.map((option) => {
    const box = make("input", { type: "checkbox", name, value: option.name });
    const symbol = option.short ? [make("span", { class: `${option.name} mark`, "aria-hidden": "true" }, option.short)] : [];
    return make("label", {}, box, " ", ...symbol, ` ${option.name}`);
  });
  return make("fieldset", {}, make("legend", {}, title), ...boxes);
}

function readForm(form) {
  const given = new FormData(form);
  const filter = {};
  for (const name of WORDS) filter[name] = (given.get(name) ?? "").trim();
  for (const name of LISTS) filter[name] = given.getAll(name);
  return filter;
}

function writeForm(form, filter) {
  for (const name of WORDS) {
    const control = form.elements.namedItem(name);
    if (control.value.trim() !== filter[name]) control.value = filter[name];
  }
  for (const box of form.querySelectorAll("input[type=checkbox]")) box.checked = filter[box.name].includes(box.value);
}

function isFiltered(filter) {
  return WORDS.some((name) => filter[name]) || LISTS.some((name) => filter[name].length);
}

function passing(filter) {
  const subjects = data.subjects.map((subject) => subjectPasses(subject, filter));
  const rows = data.rows.map((row) => rowPasses(row, filter));
  const verdicts = data.verdicts.map(({ name }) => allows(filter.verdict, name));
  const evidence = data.evidence.map(({ name }) => allows(filter.evidence, name));
  return cells.filter(
    (cell) => subjects[cell.subject] && rows[cell.row] && verdicts[cell.verdict] && evidence[cell.evidence],
  );
}

// The full name of a subject selects only that subject; other words are searched in name, title and model.
function subjectPasses(subject, { q, provider, kind }) {
  if (!allows(kind, subject.kind) || (provider && subject.provider !== provider)) return false;
  if (data.subjects.some(({ name }) => name === q)) return subject.name === q;
  return holds(`${subject.name} ${subject.title} ${subject.model}`, q);
}

function rowPasses(row, { rule, family }) {
  return allows(family, row.family) && holds(`${row.name} ${row.title}`, rule);
}

function allows(wanted, name) {
  return !wanted.length || wanted.includes(name);
}

function holds(text, words) {
  const where = text.toLowerCase();
  return words.toLowerCase().split(/\s+/).every((word) => where.includes(word));
}
