// Models by hosts: a family with a row per host, and the core facts that its claims give to the model.
const hostsKnown = new Map();

function hostsOf(number) {
  if (!hostsKnown.has(number)) hostsKnown.set(number, new Set(matrix().models[number].map(([subject]) => index.subjects[subject].name)));
  return hostsKnown.get(number);
}

function modelAnswer([subject, models, cells], at) {
  const [value, meaning, notes, mark, evidence, row, details] = matrix().modelCells[cells[at]];
  const path = row < 0 || details < 0 ? null : [index.subjects[subject].name, index.rows[row].name, `on ${models[0]}`];
  const [valueText, evidenceText] = textsOf([value, evidence]);
  return { value: valueText, meaning: MEANINGS_BY_NUMBER[meaning], notes: textsOf(notes), mark: index.marks[mark], evidence: evidenceText, path, row, details };
}

function modelRows(number) {
  return matrix().models[number].map((row) => {
    const subject = index.subjects[row[0]];
    return { subject, models: row[1], row, answers: factTables[0].questions.map((_, at) => modelAnswer(row, at)) };
  });
}

function modelTable(label, rows) {
  const { questions } = factTables[0];
  const heads = ["Host and model", ...questions.map(({ head }) => head)].map((text) => make("th", { scope: "col" }, text));
  const body = rows.map(({ subject, models, answers }) => make("tr", {}, modelHead(subject, models), ...answers.map((answer, at) => answerCell(answer, questions[at].head))));
  return make("table", { class: "facts models", "aria-label": label }, make("thead", {}, make("tr", {}, ...heads)), make("tbody", {}, ...body));
}

const MAX_NAMED = 3;

function modelHead(subject, models) {
  const link = make("a", { href: writeAddress({ view: "of", path: [subject.name] }) }, titleOf(subject.name));
  const wire = wiresOf(subject).length > 1 || subject.wire !== "chat" ? [" ", make("span", { class: "wire" }, subject.wire)] : [];
  const more = models.length > MAX_NAMED ? ` and ${models.length - MAX_NAMED} more` : "";
  return make("th", { scope: "row" }, link, ...wire, " ", make("small", {}, make("code", {}, models.slice(0, MAX_NAMED).join(", ")), more));
}

function answerCell({ value, meaning, notes, mark, evidence, path }, head) {
  const shown = [make("b", { "aria-hidden": "true" }, MARKS[meaning]), make("span", { class: "unseen" }, `${meaning}: `), make("span", { class: "v" }, value)];
  const holder = path ? make("a", { href: writeAddress({ view: "cell", path }) }, ...shown) : make("span", {}, ...shown);
  const lines = notes.map((note) => make("span", { class: note === "contested" ? "n c" : "n" }, note === "contested" ? "≠ contested" : note));
  const rests = evidence ? [make("span", { class: "e" }, make("i", { "aria-hidden": "true" }, mark), ` ${evidence}`)] : [];
  return make("td", { class: meaning, "data-head": head }, holder, ...lines, ...rests);
}

function familyLink({ name, title }) {
  return make("a", { href: writeAddress({ view: "model", path: [name] }) }, title);
}

function showModels(holder, { q }) {
  const wanted = q ? understood({ q }).families : families;
  const byVendor = grouped(wanted.length ? wanted : families, ({ vendor }) => vendor);
  const lists = [...byVendor].flatMap(([vendor, own]) => [
    make("h3", { "data-at": vendor || "others" }, vendor ? titleOf(vendor) : "Others"),
    make("p", {}, ...joined(own.map(familyLink), " · ")),
  ]);
  holder.replaceChildren(make("h2", {}, "Models everywhere"), make("p", {}, "A page for each model: who serves it, and what each host does with reasoning, ids and results."), ...lists);
  return families.map(({ name, title, vendor }) => ({ name, title, vendor }));
}

function showModel(holder, { path: [name = ""], wire }) {
  const found = familiesNamed(name).filter((each) => each.name === name).concat(familiesNamed(name))[0];
  if (!found) {
    holder.replaceChildren(make("h2", {}, "Not found"), make("p", {}, `There is no model named “${name}”. `, make("a", { href: "#/models" }, "All models")));
    return [];
  }
  const rows = modelRows(found.number).filter(({ subject }) => !wire || subject.wire === wire);
  const others = families.filter(({ vendor, key }) => vendor === found.vendor && key !== found.key);
  holder.replaceChildren(
    make("h2", {}, `${found.title} everywhere`),
    make("p", {}, `${plural(new Set(rows.map(({ subject }) => subject.service)).size, "host")}, from claims about this model. Hosts that do different things with its variants have several rows.`),
    modelTable(found.title, rows),
    ...titled("h3", "Others of the same maker", found.vendor && others.length ? [make("p", {}, ...joined(others.map(familyLink), " · "))] : []),
  );
  return rows.map(({ subject, models, answers }) => ({
    host: subject.name,
    models: models.join(" "),
    ...Object.fromEntries(answers.flatMap((answer, at) => [[factTables[0].questions[at].name, answer.value], [`${factTables[0].questions[at].name}: means`, answer.meaning]])),
  }));
}

// What a search for a model shows: its rows at the hosts that the search names, or links to all hosts.
function modelsFound(query, state) {
  if (!query.families.length) return [];
  const services = new Set(query.terms.filter(({ service, families: of }) => service && !of.some(({ vendor }) => vendor === service)).map(({ service }) => service));
  for (const service of query.providers) if (!query.families.some(({ vendor }) => vendor === service)) services.add(service);
  const wanted = [...new Map(query.families.map((each) => [each.number, each])).values()];
  const links = make("p", { class: "also" }, make("b", {}, "Everywhere: "), ...joined(wanted.slice(0, MAX_FAMILIES).map(familyLink), " · "), wanted.length > MAX_FAMILIES ? " …" : "");
  const rows = wanted.flatMap(({ number }) => modelRows(number)).filter(({ subject }) => (!state.wire || subject.wire === state.wire) && (services.size ? services.has(subject.service) : wanted.length === 1));
  if (!rows.length) return [links];
  const names = [...services].map(titleOf).join(" and ");
  const what = wanted.length === 1 ? wanted[0].title : query.terms.find(({ families: of }) => of?.length)?.text ?? "";
  return [make("h2", {}, `${capital(what)}${names ? ` at ${names}` : " everywhere"}`), links, modelTable(`${what} ${names}`, rows)];
}

const MAX_FAMILIES = 14;
const MEANINGS_BY_NUMBER = ["breaks", "beware", "unknown", "works"];

// A claim as it holds for one model, which the tables of cells do not have.
function modelReport([name, rowName, variant]) {
  const subject = index.subjects[subjectNumber(name)];
  const number = rowNumber(rowName);
  const model = variant.replace(/^on /, "");
  const holder = subject && matrix().models.flat().find(([at, models, cells]) => index.subjects[at] === subject && models[0] === model && cells.some((cell) => matrix().modelCells[cell][5] === number));
  const cell = holder?.[2].map((each) => matrix().modelCells[each]).find((each) => each[5] === number);
  if (!cell || cell[6] < 0) return null;
  const details = detailsOf({ details: cell[6] });
  const row = index.rows[number];
  return [
    make("h2", { id: "heading" }, make("a", { href: writeAddress({ view: "of", path: [subject.name] }) }, titleOf(subject.name)), ": ", make("code", {}, row.name.replace(/^claims\//, ""))),
    make("p", {}, ...prose(row.title)),
    make("p", { class: "hint" }, `${subject.name}, model ${holder[1].join(", ")}`),
    make("article", { class: MEANINGS_BY_NUMBER[cell[1]] }, make("h3", {}, details.claimed || "unknown"), facts([["Seen", details.observed || "nothing"]]), ...titled("h4", "Claim", claimDetails(details.claim))),
  ];
}
