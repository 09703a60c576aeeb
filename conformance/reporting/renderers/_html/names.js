// What the words of a search mean: providers and models by any of their names, questions, and other words as they are.
const FILLERS = new Set(
  "a all an and any anything are at back before both break broken breaks but by can could do does every everywhere for from get gets give has have host hosts how i if in instead into is it its keep know list me model models move moving must my need not of on one or out please provider providers s send sends sent should show since so still switch switching tell that the their them there these they this those to use used uses using versus via vs was want we what when where which while who why will with work working works you your".split(" "),
);
// Words of questions; what they lead to is a column of the tables, or a view.
const ASKED = [
  [/^(omit\w*|refus\w*|reject\w*|leav\w*|without)$/, "omitted"],
  [/^(fields?)$/, "field"],
  [/^(ids?|repeat\w*|collid\w*|collision\w*|duplicate\w*)$/, "ids"],
  [/^(orders?|ordering)$/, "order"],
  [/^(chang\w*|news|month|recent\w*)$/, "changes"],
  [/^(contest\w*|disput\w*|disagree\w*)$/, "contested"],
  [/^(gateways?|prox(y|ies)|routers?|signatures?)$/, "gateways"],
  [/^(sdks?|los(e|es|t|s|ing)|keeps|releases?|versions?|librar(y|ies)|fixed)$/, "keeps"],
  [/^(agents?)$/, "agents"],
];
const PASSIVE = new Set(["reasoning", "thinking", "omitted", "tool", "tools", "results", "result", "call", "calls", "last", "sdk"]);
const MOST_WORDS = 5;
const SIMILAR = 0.55;
const fold = (text) => text.toLowerCase().replace(/[\W_]+/g, "");
const families = index.families.map(([name, title, vendor], number) => ({ name, title, vendor, number, key: fold(name) }));
const providerNames = namedProviders();
const clientOf = (row) => row.name.replace(/@.*/, "");
const clientNames = new Map(factTables.flatMap(({ rows }) => rows.filter(({ on }) => on).map((row) => [fold(clientOf(row)), clientOf(row)])));

function namedProviders() {
  const found = new Map();
  const name = (word, service) => word && !found.has(fold(word)) && found.set(fold(word), service);
  for (const [service, aliases] of Object.entries(index.aliases)) for (const each of [service, ...aliases]) name(each, service);
  for (const { service, title, kind, wire } of index.subjects) {
    if (kind === "adapter") continue;
    const plain = title.replace(` (${wire})`, "");
    for (const each of [plain, plain.replace(/ *\([^)]*\)/g, "")]) name(each, service);
  }
  return found;
}

function titleOf(service) {
  const subject = index.subjects[subjectNumber(service)];
  return subject ? subject.title.replace(` (${subject.wire})`, "") : service;
}

// The families that a text names: one exactly, those of a line (`kimi`), or the one that the name of a model begins with.
function familiesNamed(text) {
  const plain = text.toLowerCase().replace(/^.*\//, "").replace(/^~/, "");
  const key = fold(plain.replace(/:\w+$/, ""));
  if (key.length < 2) return [];
  const exact = families.filter((each) => each.key === key);
  if (exact.length && /\d/.test(key)) return exact;
  if (/^[a-z]{3,}$/.test(key)) return families.filter((each) => each.name.split("-").join("").startsWith(key) || (key.length > 3 && each.name.split("-").includes(key)));
  const beginning = families.filter((each) => /\d|oss/.test(each.key) && key.startsWith(each.key));
  const longest = Math.max(0, ...beginning.map((each) => each.key.length));
  if (longest) return beginning.filter((each) => each.key.length === longest);
  return /\d/.test(key) ? families.filter((each) => each.key.endsWith(key) && each.name.split("-").length > 1) : [];
}

const readQueries = new Map();

function understood({ q }) {
  const text = q.trim().toLowerCase();
  if (!readQueries.has(text)) readQueries.set(text, readQuery(text));
  return readQueries.get(text);
}

function readQuery(text) {
  const query = { terms: [], providers: new Set(), families: [], asks: [], ignored: [], isFrom: /(^|\s)(to|vs|versus|from|instead)(\s|$)/.test(text), corrected: [] };
  const words = text.split(/[\s,?!“”"]+/).map((word) => word.replace(/['’]s$/, "")).filter(Boolean);
  for (let at = 0; at < words.length; ) at += readName(query, words, at) || readWord(query, words[at]);
  const isNamed = query.asks.length || query.terms.some(({ service, families: of, client }) => service || client || of?.length);
  // Beside names and questions, words that nothing has are left out, and the page says so.
  if (isNamed) {
    query.ignored = query.terms.filter((term) => !isUseful(term)).map((term) => term.text);
    query.terms = query.terms.filter(isUseful);
  }
  // Words of questions are looked for as they are if they stand alone: `400`, `ids`.
  if (!query.terms.length && !query.asks.length) query.terms = words.filter((word) => !FILLERS.has(word)).map((word) => ({ text: word }));
  return query;
}

function readName(query, words, at) {
  for (let count = Math.min(MOST_WORDS, words.length - at); count > 0; count--) {
    const span = words.slice(at, at + count);
    if (FILLERS.has(span[0]) || FILLERS.has(span.at(-1))) continue;
    if (count === 1 && (isAsked(span[0]) || PASSIVE.has(span[0]))) continue;
    const joinedSpan = span.join(" ");
    const service = providerNames.get(fold(joinedSpan));
    const client = clientNames.get(fold(joinedSpan));
    const named = count > 1 && span.some((word) => providerNames.has(fold(word)) && word !== span[0]) ? [] : familiesNamed(span.join("-"));
    if (service || client || named.length) {
      addName(query, joinedSpan, service, client && !service ? [] : named, client);
      return count;
    }
  }
  return 0;
}

function addName(query, text, service, named, client) {
  if (service) query.providers.add(service);
  query.families.push(...named);
  query.terms.push({ text, service, families: named, client });
}

function isUseful({ text, service, families: of, client }) {
  return service || client || of?.length || factTables.some(({ rows }) => rows.some((row) => row.text.includes(text)));
}

function isAsked(word) {
  return ASKED.some(([pattern]) => pattern.test(word));
}

function readWord(query, word) {
  const ask = ASKED.find(([pattern]) => pattern.test(word));
  if (ask) query.asks.push(ask[1]);
  else if (!FILLERS.has(word) && !(PASSIVE.has(word) && (query.asks.length || query.terms.length))) addText(query, word);
  return 1;
}

// A word that nothing has may be a misspelt name.
function addText(query, word) {
  const isKnown = factTables.some(({ rows }) => rows.some((row) => row.text.includes(word))) || rowsNamed(word).length;
  const near = isKnown || word.length < 4 ? null : nearest(word);
  if (!near) return query.terms.push({ text: word });
  query.corrected.push([word, near]);
  const service = providerNames.get(fold(near));
  return addName(query, near, service, familiesNamed(near));
}

function nearest(word) {
  const known = [...providerNames.keys(), ...families.map(({ key }) => key), ...new Set(families.map(({ name }) => name.split("-")[0]))];
  const [score, name] = known.map((each) => [similarity(each, fold(word)), each]).sort(([a], [b]) => b - a)[0] ?? [0];
  return score >= SIMILAR ? name : null;
}

// A row is found by each word that is no question; one of several names is enough.
function finds(query, row) {
  const named = query.terms.filter(({ service, families: of, client }) => service || client || of?.length);
  const others = query.terms.filter((term) => !named.includes(term));
  return others.every(({ text }) => row.text.includes(text)) && (!named.length || named.some((term) => namesRow(term, row)));
}

function namesRow({ text, service, families: of, client }, row) {
  if (client && row.on && clientOf(row) === client) return true;
  if (row.text.includes(text)) return true;
  if (service) return row.service === service;
  return !row.on && (of ?? []).some(({ number }) => hostsOf(number).has(row.subject));
}
