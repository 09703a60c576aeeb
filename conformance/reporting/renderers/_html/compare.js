// Two or more subjects side by side: first the core facts, then every row in which they differ.
const MAX_COMPARED = 6;

function showCompare(holder, { pin }) {
  const names = namesOf(pin).slice(0, MAX_COMPARED);
  if (names.length < 2) {
    holder.replaceChildren(
      make("h2", {}, "Compare"),
      make("p", {}, "Pin two or more rows of the core facts with ☆: providers, the APIs of one, SDKs, or two versions of an SDK. Then come back."),
    );
    return [];
  }
  const rows = [...factLines(names), ...differingLines(names)];
  const shown = table("Comparison", ["Row", ...names], rows.map(compareRow));
  const what = `${plural(rows.length, "row")}: the core facts, and every rule, probe and claim in which they differ.`;
  holder.replaceChildren(make("h2", {}, `Compare ${names.slice(0, -1).join(", ")} and ${names.at(-1)}`), make("p", {}, what), scrolling("Comparison", shown));
  return rows.map(({ name, values }) => Object.fromEntries([["row", name], ...names.map((each, at) => [each, values[at].text])]));
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
  );
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
