// Subjects by families: for each kind of evidence the worst verdict, and how many cells have it.
function showSummary(table, shown, filter) {
  const bySubject = grouped(shown, (cell) => cell.subject);
  const used = families.filter((family) => shown.some((cell) => data.rows[cell.row].family === family));
  const head = ["Subject", ...used].map((name) => make("th", { scope: "col" }, name));
  const body = [...bySubject].map(([subject, own]) => summaryRow(subject, own, used, filter));
  table.replaceChildren(make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...body));
}

function summaryRow(number, own, used, filter) {
  const subject = data.subjects[number];
  const byFamily = grouped(own, (cell) => data.rows[cell.row].family);
  const columns = used.map((family) => summaryCell(subject, family, byFamily.get(family) ?? [], filter));
  const name = make("th", { scope: "row" }, subject.name, " ", make("small", {}, subject.title));
  return make("tr", {}, name, ...columns);
}

function summaryCell(subject, family, own, filter) {
  if (!own.length) return make("td");
  const lines = [...grouped(own, (cell) => cell.evidence)].sort(([a], [b]) => a - b).map(([kind, of]) => tally(kind, of));
  const href = writeAddress([], { ...filter, q: subject.name, provider: "", family: [family] });
  return make("td", {}, make("a", { href }, ...lines));
}

function tally(kind, of) {
  const worst = Math.min(...of.map((cell) => cell.verdict));
  const count = of.filter((cell) => cell.verdict === worst).length;
  const { name, short } = data.evidence[kind];
  const verdict = data.verdicts[worst];
  const marked = make("span", { class: verdict.name }, `${verdict.short} ${count}`);
  const seen = [marked, `/${of.length} `, make("small", {}, short)];
  return make(
    "span",
    { class: "line" },
    make("span", { "aria-hidden": "true" }, ...seen),
    make("span", { class: "unseen" }, `${name}: ${count} of ${of.length} ${verdict.name}. `),
  );
}
