// An answer in words above the tables: who breaks, with which value, for the question asked or the SDKs found.
const MARKS = { breaks: "✗", beware: "!", works: "✓", unknown: "?" };
const MAX_NAMES = 40;

function showAnswer(holder, state, shown) {
  const lines = state.ask ? asked(state.ask, shown) : state.q ? ofSearch(state, shown) : [];
  holder.replaceChildren(...lines);
  holder.hidden = !lines.length;
}

function asked(name, shown) {
  const number = factTables.findIndex(({ questions }) => questions.some((each) => each.name === name));
  if (number < 0) return [];
  const column = factTables[number].questions.findIndex((each) => each.name === name);
  const { text } = factTables[number].questions[column];
  return [make("h2", {}, text), ...answerLines(shown[number], column, ["breaks", "beware"]), others(shown[number], column)];
}

// Rows with the same value and the same first note are named together.
function answerLines(rows, column, meanings) {
  const named = grouped(rows, (row) => row.name.replace(/@.*/, ""));
  return meanings.flatMap((meaning) => {
    const found = rows.filter((row) => row.answers[column].meaning === meaning && !isRepeated(row, column));
    const groups = [...grouped(found, (row) => wordsOf(row.answers[column], Boolean(row.on)))];
    return groups.sort(([, a], [, b]) => b.length - a.length).map(([words, same]) => {
      const names = same.slice(0, MAX_NAMES).map((row) => nameLink(row, named));
      const more = same.length > MAX_NAMES ? [` and ${same.length - MAX_NAMES} more`] : [];
      const value = make("b", {}, `${MARKS[meaning]} ${words}`);
      return make("p", { class: meaning }, value, ` (${same.length}): `, ...joined(names, ", "), ...more);
    });
  });
}

// A further model of a provider is named only if it answers in another way than the provider's own.
function isRepeated(row, column) {
  const own = index.subjects.find(({ name }) => name === row.subject);
  const main = own.main || own.kind === "adapter" ? null : factRow(own.provider);
  return main?.answers[column].value === row.answers[column].value;
}

// What the others do for some models stands in the value's place if the value alone would not show why to beware.
function wordsOf({ value, notes, meaning }, isAdapter) {
  if (isAdapter || !notes.length) return value;
  const forModels = notes.find((note) => note.startsWith("on "));
  if (meaning === "beware" && forModels) return `${forModels.replace(/^.*: /s, "")} on some models`;
  return notes[0].includes("…") ? value : `${value}, ${notes[0]}`;
}

// An SDK is named without its version and provider if it has only one of each here.
function nameLink(row, named) {
  const base = row.name.replace(/@.*/, "");
  const same = named.get(base);
  const isOneVersion = same.every(({ name }) => name === row.name);
  const name = `${isOneVersion ? base : row.name}${same.some(({ on }) => on !== row.on) ? ` on ${row.on}` : ""}`;
  const wire = row.label && row.label !== "chat" ? ` (${row.label})` : "";
  return make("a", { href: writeAddress({ view: "of", path: [row.subject] }) }, `${name}${wire}`);
}

function others(rows, column) {
  const count = (meaning) => rows.filter((row) => row.answers[column].meaning === meaning).length;
  return make("p", {}, `✓ works: ${count("works")}. ? unknown: ${count("unknown")}. The rows below have the values.`);
}

// A search for a provider finds the SDKs that were tested on it; any other one those that it names.
function ofSearch(state, [, found]) {
  const wanted = state.q.toLowerCase();
  const tested = factTables[1].rows.filter((row) => row.on === wanted && (!state.wire || row.wire === state.wire));
  const rows = tested.length ? tested : found;
  const where = tested.length ? `on ${wanted}: is reasoning sent back?` : "found: is reasoning sent back?";
  const sdks = new Set(rows.map(({ name }) => name)).size;
  const lines = rows.length ? [make("h2", {}, `${plural(sdks, "SDK")} ${where}`), ...answerLines(rows, 0, MEANINGS)] : [];
  return [...lines, ...alsoFound(state, rowsNamed(state.q))];
}
