// Two providers: what a client of the first has to change for the second. More, or SDKs: every row in which they differ.
const MAX_COMPARED = 6;
const UNKNOWN_KIND = 3;
const SENT_KINDS = [0, 3];

function showCompare(holder, { pin }) {
  const names = namesOf(pin).slice(0, MAX_COMPARED);
  if (names.length < 2) {
    holder.replaceChildren(make("h2", {}, "Compare"), chooser(names[0] ?? ""), make("p", { class: "hint" }, "Or tap ☆ at one row of the core facts and ⇄ at another: providers, the APIs of one, SDKs, or two versions of an SDK."));
    return [];
  }
  const rows = [...factLines(names), ...differingLines(names)];
  const shown = table("Comparison", ["Row", ...names], rows.map(compareRow));
  const what = `${plural(rows.length, "row")}: the core facts, and every rule, probe and claim in which they differ.`;
  const whole = [make("p", {}, what), scrolling("Comparison", shown)];
  const numbers = names.map(subjectNumber);
  const isPair = names.length === 2 && numbers.every((number) => matrix().compare.values[number]);
  const title = make("h2", {}, isPair ? `From ${labelOf(names[0])} to ${labelOf(names[1])}` : `Compare ${names.slice(0, -1).join(", ")} and ${names.at(-1)}`);
  if (!isPair) {
    holder.replaceChildren(title, ...whole);
  } else {
    holder.replaceChildren(title, ...pairView(names, numbers), make("details", { class: "whole" }, make("summary", {}, "Every rule, probe and claim in which they differ"), ...whole));
  }
  return rows.map(({ name, values }) => Object.fromEntries([["row", name], ...names.map((each, at) => [each, values[at].text])]));
}

// The name that people use, with the wire if it is not the only one.
function labelOf(name) {
  const subject = index.subjects[subjectNumber(name)];
  const title = titleOf(name);
  const model = subject.main ? "" : ` ${subject.model}`;
  return `${title}${model}${wiresOf(subject).length > 1 && subject.wire !== "chat" ? ` (${subject.wire})` : ""}`;
}

function chooser(first) {
  const names = Object.keys(matrix().compare.values).map((number) => index.subjects[number].name);
  const options = () => [make("option", { value: "" }, "choose…"), ...names.map((name) => make("option", { value: name }, `${labelOf(name)} · ${name}`)).sort((a, b) => a.text.localeCompare(b.text))];
  const selects = ["from", "to"].map((id) => make("select", { id, "aria-label": id === "from" ? "From provider" : "To provider" }, ...options()));
  selects[0].value = first;
  for (const each of selects) each.addEventListener("change", () => selects.every(({ value }) => value) && go({ ...state, pin: selects.map(({ value }) => value) }));
  return make("p", { class: "chooser" }, make("label", { for: "from" }, "From "), selects[0], " ", make("label", { for: "to" }, "to "), selects[1]);
}

// The differences of two providers: the kind of each, by what Python says of the pair of values.
function differences([first, second]) {
  const { claims, values } = matrix().compare;
  return claims.flatMap(([row, kinds, broken, measured, instead, sends], at) => {
    const [before, after] = [values[first][at], values[second][at]];
    const digit = kinds[before][after];
    if (digit === "-") return [];
    const send = Array.isArray(sends) ? sends[after] : sends;
    return [{ row, kind: Number(digit), broken, measured, instead, send }];
  });
}

function pairView(names, numbers) {
  const found = differences(numbers);
  const ofKind = matrix().compare.kinds.map((_, kind) => found.filter((each) => each.kind === kind));
  const [sent, read, free, unknown] = ofKind.map((each) => each.length);
  const swap = make("a", { href: writeAddress({ view: "compare", pin: [...names].reverse() }) }, `From ${labelOf(names[1])} to ${labelOf(names[0])}`);
  const others = make("a", { href: writeAddress({ view: "compare" }) }, "Others");
  const link = copier(() => location.href, "Copy link");
  return [
    make("p", {}, make("strong", {}, `${plural(sent, "change")} to what is sent, ${plural(read, "difference")} in replies`), `, ${free} that become possible, ${unknown} unknown.`),
    make("p", {}, swap, " · ", others, " ", link),
    coreTable(names),
    ...ofKind.flatMap((each, kind) => pairKind(each, kind, names, numbers)),
  ];
}

function coreTable(names) {
  const heads = names.map((name) => make("th", { scope: "col" }, make("a", { href: writeAddress({ view: "of", path: [name] }) }, labelOf(name))));
  const rows = names.map(factRow);
  const lines = rows[0].questions.flatMap(({ head, text }, at) => {
    const said = rows.map(({ answers }) => [answers[at].value, ...answers[at].notes].join());
    if (said[0] === said[1]) return [];
    const cells = rows.map(({ answers }, number) => {
      const cell = answers[at].element.cloneNode(true);
      cell.dataset.head = labelOf(names[number]);
      return cell;
    });
    return [make("tr", {}, make("th", { scope: "row", title: text }, head), ...cells)];
  });
  if (!lines.length) return make("p", {}, "The core facts are the same.");
  return make("table", { class: "facts wires", "aria-label": "Core facts that differ" }, make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "Core facts that differ"), ...heads)), make("tbody", {}, ...lines));
}

function pairKind(found, kind, names, numbers) {
  if (!found.length) return [];
  const heading = `A client of ${labelOf(names[0])} ${matrix().compare.kinds[kind]} (${found.length})`;
  const list = make("ol", { class: "changes pair" }, ...found.map((each) => pairItem(each, names, numbers)));
  if (kind === UNKNOWN_KIND) return [make("details", {}, make("summary", {}, heading), list)];
  return [make("h3", { "data-at": `kind-${kind}` }, heading), list];
}

function pairItem({ row, kind, broken, measured, instead, send }, names, numbers) {
  const { name, title } = index.rows[row];
  const values = names.map((subject, at) => {
    const [cell] = cellsAtCrossing(numbers[at], row);
    const text = cell ? detailsOf(cell).claim?.meaning || valueOf(cell) : "as the canonical wire";
    const link = cell ? make("a", { href: addressOf(cell) }, text || "unknown") : text;
    return make("div", {}, make("dt", {}, labelOf(subject)), make("dd", {}, link));
  });
  const harm = broken ? make("span", { class: "harm" }, ` broke ${broken} of ${measured} SDKs`) : "";
  const request = SENT_KINDS.includes(kind) ? [instead && change("−", "instead of", instead), send && change("+", "send", send)].filter(Boolean) : [];
  return make("li", {}, make("strong", {}, ...prose(title || name)), harm, make("dl", {}, ...values), ...(request.length ? [make("div", { class: "request" }, ...request)] : []));
}

function change(sign, word, text) {
  return make("p", { class: sign === "+" ? "send" : "instead" }, `${sign} ${word} `, make("code", {}, text));
}

// What a search that names two providers shows at once.
function comparisonFound(query) {
  const services = [...query.providers].filter((service) => matrix().compare.values[subjectNumber(service)]);
  if (services.length !== 2) return [];
  const names = services.map((service) => index.subjects[subjectNumber(service)].name);
  const found = differences(names.map(subjectNumber));
  const sent = found.filter(({ kind }) => kind === 0);
  const first = sent.slice(0, MAX_FOUND).map(({ row, instead, send }) => make("li", {}, ...prose(index.rows[row].title.replace(/\.$/, "")), send ? "; send " : "", send ? make("code", {}, send) : ""));
  const link = make("a", { href: writeAddress({ view: "compare", pin: names }) }, `All ${found.length} differences, with the requests`);
  return [make("h2", {}, `From ${labelOf(names[0])} to ${labelOf(names[1])}: ${plural(sent.length, "change")} to what is sent`), make("ol", { class: "changes" }, ...first), make("p", { class: "also" }, link)];
}

function factLines(names) {
  const found = names.map(factRow);
  return factTables.flatMap(({ questions }) =>
    questions.flatMap(({ name, head }, number) => {
      const answers = found.map((row) => (row?.questions.some((each) => each.name === name) ? row.answers[number] : null));
      if (!answers.some(Boolean)) return [];
      const values = answers.map((answer) => ({ text: answer ? [answer.value, ...answer.notes].join("; ") : "", meaning: answer?.meaning }));
      return [{ name: head, values }];
    }),
  ).filter(({ name }, at, all) => all.findIndex((each) => each.name === name) === at);
}

function differingLines(names) {
  const numbers = names.map(subjectNumber);
  return index.rows.flatMap((row, number) => {
    const values = numbers.map((subject) => crossingValue(cellsAtCrossing(subject, number)));
    // A rule that passes here and was not observed there does not distinguish the providers.
    const observed = values.filter(({ text, meaning }) => text && (meaning !== "declared" || isValued(row)));
    const isSame = new Set(observed.map(({ text }) => text)).size < 2;
    return isSame ? [] : [{ name: row.name, title: row.title, values }];
  });
}

// Rules are compared by verdict, because the number of checks differs for reasons that say nothing.
function crossingValue(cells) {
  if (!cells.length) return { text: "" };
  const worst = cells.reduce((a, b) => (b.verdict < a.verdict ? b : a));
  const verdict = index.verdicts[worst.verdict];
  return { text: isValued(index.rows[worst.row]) ? valueOf(worst) : verdict.word, meaning: verdict.name, mark: verdict.mark, href: addressOf(worst) };
}

function isValued({ family }) {
  return ["claims", "probes"].includes(family);
}

function compareRow({ name, title, values }) {
  const head = make("th", { scope: "row" }, make("code", {}, name), ...(title ? [" ", make("small", {}, ...prose(title))] : []));
  const cells = values.map(({ text, meaning, mark, href }) => {
    const symbol = text ? [make("b", { "aria-hidden": "true" }, `${mark ?? MARKS[meaning] ?? ""} `)] : [];
    const content = href ? make("a", { href }, ...symbol, text) : make("span", {}, ...symbol, text || "–");
    return make("td", meaning ? { class: meaning } : {}, content);
  });
  return make("tr", { "data-at": name }, head, ...cells);
}
