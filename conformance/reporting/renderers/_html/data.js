// The data of the page: texts and details are stored once, and cells refer to them by number.
const data = JSON.parse(document.getElementById("data").textContent);
const CELL_WIDTH = 6;
const cells = data.cells.flatMap(cellsOf);
const crossings = grouped(cells, crossing);
const families = [...new Set(data.rows.map((row) => row.family))];

function cellsOf(numbers, subject) {
  const found = [];
  for (let at = 0; at < numbers.length; at += CELL_WIDTH) {
    const [row, variant, verdict, evidence, judged, details] = numbers.slice(at, at + CELL_WIDTH);
    found.push({ subject, row, variant: data.texts[variant], verdict, evidence, judged, details });
  }
  return found;
}

// Cells of one subject and one row belong together: they differ in variant or evidence.
function crossing({ subject, row }) {
  return subject * data.rows.length + row;
}

function grouped(many, key) {
  const groups = new Map();
  for (const each of many) {
    const name = key(each);
    if (!groups.has(name)) groups.set(name, []);
    groups.get(name).push(each);
  }
  return groups;
}

function detailsOf(cell) {
  const [claimed, observed, expected, command, cases, findings, claim] = data.details[cell.details];
  return {
    claimed: data.texts[claimed],
    observed: data.texts[observed],
    expected: data.texts[expected],
    command: data.texts[command],
    cases: textsOf(cases),
    findings: findings.map(findingOf),
    claim: claim ? claimOf(claim) : null,
  };
}

function textsOf(numbers) {
  return numbers.map((number) => data.texts[number]);
}

function findingOf(numbers) {
  const [at, message, level, excerpt, asked, answer] = textsOf(numbers);
  return { at, message, level, excerpt, asked, answer };
}

function claimOf(claim) {
  const [meaning, since, until, versions, confidence, note] = textsOf(claim.slice(0, 6));
  const disagrees = claim[7].map(([value, note, [source]]) => ({
    value: data.texts[value],
    note: data.texts[note],
    source: sourceOf(source),
  }));
  return { meaning, since, until, versions, confidence, note, sources: claim[6].map(sourceOf), disagrees };
}

function sourceOf(numbers) {
  const [text, url, read, quote] = textsOf(numbers);
  return { text, url, read, quote };
}

// The provider's claims that the rule or probe of a cell reads.
function claimsBehind(cell) {
  const { provider } = data.subjects[cell.subject];
  const subject = data.subjects.findIndex((each) => each.name === provider);
  const rows = data.rows[cell.row].claims.map((name) => data.rows.findIndex((row) => row.name === name));
  return rows.flatMap((row) => crossings.get(crossing({ subject, row })) ?? []);
}

// Creates every element of the page: strings become text, never markup.
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

// A text in which words between backticks are code.
function prose(text) {
  return text.split("`").map((part, number) => (number % 2 ? make("code", {}, part) : part));
}

function plural(count, noun) {
  return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
}
