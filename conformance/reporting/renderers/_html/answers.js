// An answer in words above the tables: who breaks, with which value, for the question asked or the SDKs found.
const MARKS = { breaks: "✗", beware: "!", works: "✓", unknown: "?" };
const MAX_NAMES = 40;
const FEW_LINES = 2;

function showAnswer(holder, state, shown) {
  const lines = state.only === "contested" ? contestedFacts(shown) : state.ask ? asked(state.ask, shown) : state.q ? ofSearch(state, shown) : [];
  holder.replaceChildren(...lines);
  holder.hidden = !lines.length;
}

function asked(name, shown) {
  const number = factTables.findIndex(({ questions }) => questions.some((each) => each.name === name));
  if (number < 0) return [];
  const column = factTables[number].questions.findIndex((each) => each.name === name);
  const { text } = factTables[number].questions[column];
  if (factTables[number].element.id === "gateways") return [make("h2", {}, text), ...answerLines(shown[number], column, ["works", "beware", "breaks"], true)];
  const releases = name === "keeps" ? releaseLines(shown[number]) : [];
  return [make("h2", {}, text), ...answerLines(shown[number], column, ["breaks", "beware"]), others(shown[number], column), ...releases];
}

// Rows with the same value and the same first note are named together.
function answerLines(rows, column, meanings, isWhole = false) {
  const named = grouped(rows, (row) => row.name.replace(/@.*/, ""));
  return meanings.flatMap((meaning) => {
    const found = rows.filter((row) => row.answers[column].meaning === meaning && (isWhole || !isRepeated(row, column)));
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
  const main = !own || own.main || own.kind === "adapter" ? null : factRow(own.provider);
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
  if (row.kind === "gateways") return make("a", { href: row.element.querySelector("a").getAttribute("href") }, `${row.name} (${row.element.querySelector("small").textContent})`);
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

// Every contested core fact, with the value that is shown and a way to the sources that disagree.
function contestedFacts([rows]) {
  const found = rows.flatMap((row) => row.answers.map((answer, at) => [row, answer, factTables[0].questions[at]]).filter(([, { isContested }]) => isContested));
  if (!found.length) return [];
  const lines = [...grouped(found, ([, , { head }]) => head)].map(([head, same]) => {
    const links = same.map(([row, { value, meaning, element }]) => {
      const href = element.querySelector("a")?.getAttribute("href");
      const name = `${row.name}${row.label && row.label !== "chat" ? ` (${row.label})` : ""}`;
      return make(href ? "a" : "span", { class: meaning, ...(href ? { href } : {}) }, `${MARKS[meaning]} ${name}: ${value}`);
    });
    return make("p", {}, make("b", {}, `${head} (${same.length}): `), ...joined(links, ", "));
  });
  const claims = make("a", { href: writeAddress({ view: "claims", only: "contested" }) }, "All contested claims");
  return [make("h2", {}, `${plural(found.length, "core fact")} ${found.length === 1 ? "is" : "are"} contested: a source or a recording says otherwise`), ...lines, make("p", { class: "also" }, claims)];
}

// A search answers the question that its words ask, about the providers, models or SDKs that they name.
function ofSearch(state, shown) {
  const query = understood(state);
  const note = query.corrected.map(([word, near]) => make("p", { class: "also" }, `Nothing has “${word}”; this is for “${titleOf(near)}”.`));
  if (query.ignored.length) note.push(make("p", { class: "also" }, `Left out, because nothing has it: ${query.ignored.map((word) => `“${word}”`).join(", ")}.`));
  const compared = query.isFrom || !query.families.length ? comparisonFound(query) : [];
  return [...note, ...compared, ...askedInWords(query, shown), ...(compared.length && isOfBoth(query) ? [] : modelsFound(query, state)), ...(compared.length ? [] : [...comparisonLink(query), ...sdksFound(query, state, shown)]), ...alsoFound(state, rowsNamed(state.q))];
}

// Whether models were named only because their makers were: `deepseek to kimi`.
function isOfBoth({ families: of, providers }) {
  return of.every(({ vendor }) => providers.has(vendor));
}

function comparisonLink(query) {
  const [first, second] = [...query.providers];
  if (query.providers.size !== 2) return [];
  return [make("p", { class: "also" }, make("a", { href: writeAddress({ view: "compare", pin: [first, second] }) }, `Compare ${titleOf(first)} with ${titleOf(second)}`))];
}

function askedInWords({ asks, providers }, shown) {
  return [...new Set(asks)].flatMap((ask) => {
    if (ask === "changes" || ask === "contested") {
      const href = ask === "changes" ? "#/changes" : writeAddress({ only: "contested" });
      return [make("p", { class: "also" }, make("a", { href }, ask === "changes" ? "What changed" : "What is contested"))];
    }
    if (ask === "gateways") return signatures(providers);
    const number = factTables.findIndex(({ questions }) => questions.some(({ name }) => name === ask));
    const rows = (shown[number] ?? []).filter((row) => !providers.size || providers.has(row.service));
    if (number < 0 || !rows.length || ask === "keeps") return [];
    const column = factTables[number].questions.findIndex(({ name }) => name === ask);
    return [make("h2", {}, factTables[number].questions[column].text), ...answerLines(rows, column, MEANINGS, true)];
  });
}

// Which gateways keep the signatures of reasoning, before the providers that are named or all.
function signatures(providers) {
  const number = factTables.findIndex(({ element }) => element.id === "gateways");
  if (number < 0) return [];
  const rows = factTables[number].rows.filter(({ service }) => !providers.size || providers.has(service));
  const column = factTables[number].questions.findIndex(({ name }) => name === "gateway-signatures");
  const lines = answerLines(rows, column, ["works", "beware", "breaks"], true);
  return lines.length ? [make("h2", {}, factTables[number].questions[column].text), ...lines] : [];
}

function sdksFound(query, state, shown) {
  const [, adapters, agents] = factTables;
  const isAgent = (row) => agents?.element.id === "agents" && agents.rows.includes(row);
  const clients = [...adapters.rows, ...(agents?.element.id === "agents" ? agents.rows : [])];
  const tested = clients.filter((row) => query.providers.has(row.service) && (!state.wire || row.wire === state.wire));
  const rows = tested.length ? tested : shown.flatMap((own, number) => (["adapters", "agents"].includes(factTables[number].element.id) ? own : []));
  if (!rows?.length) return [];
  const names = [...query.providers].map(titleOf).join(" or ");
  const where = tested.length ? `on ${names}: is reasoning sent back?` : "found: is reasoning sent back?";
  const counts = [false, true].map((wanted) => new Set(rows.filter((row) => isAgent(row) === wanted).map(({ name }) => name)).size);
  const who = [counts[0] && plural(counts[0], "SDK"), counts[1] && plural(counts[1], "agent")].filter(Boolean).join(" and ");
  const lines = [...answerLines(rows, 0, MEANINGS), ...releaseLines(rows)];
  if (query.asks.includes("keeps") || lines.length <= FEW_LINES) return [make("h2", {}, `${who} ${where}`), ...lines];
  // Who looks for a provider wants its facts first.
  const counted = MEANINGS.map((meaning) => [MARKS[meaning], rows.filter(({ answers }) => answers[0].meaning === meaning).length]).filter(([, count]) => count);
  const summary = make("summary", {}, `${who} ${where} ${counted.map(([mark, count]) => `${mark} ${count}`).join(", ")}`);
  return [make("details", {}, summary, ...lines)];
}

// Since which release reasoning is lost, and in which that was fixed, of the SDKs whose releases were run.
function releaseLines(rows) {
  return rows.flatMap((row) => {
    const found = timelineOf(row.subject);
    const lost = (found?.rules ?? []).filter(({ row: number }) => index.losing.includes(index.rows[number]?.name));
    const texts = [...new Set(lost.map(({ text }) => text))];
    return texts.length ? [make("p", { class: "release" }, make("b", {}, `${row.name.replace(/@.*/, "")} releases: `), `reasoning ${texts.join("; ")}.`)] : [];
  });
}
