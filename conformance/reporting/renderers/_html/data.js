// The data of the page. The index is small and read at once; the cells are read when a reader first needs them.
const index = JSON.parse(document.getElementById("index").textContent);
const rowFamilies = [...new Set(index.rows.map((row) => row.family))];
const COLUMNS = ["variant", "verdict", "evidence", "judged", "details", "command", "scenario"];
let held = null;

// All cells, and those of one subject and row together: they differ in variant or evidence.
function matrix() {
  held ??= unpacked(JSON.parse(document.getElementById("data").textContent));
  return held;
}

function unpacked(data) {
  const [steps, ...columns] = data.cells;
  const firsts = columns.pop();
  const cells = (steps ?? []).flatMap((own, row) => {
    let subject = 0;
    return own.map((step, at) => {
      subject += step;
      const cell = { subject, row };
      COLUMNS.forEach((name, number) => (cell[name] = columns[number][row][at]));
      cell.details += firsts[row][0];
      cell.variant = data.texts[cell.variant];
      return cell;
    });
  });
  // The data are in the order of rows, and of variants and evidence within a row.
  cells.sort((a, b) => a.subject - b.subject || a.row - b.row);
  return { ...data, cells, crossings: grouped(cells, crossing), bySubject: grouped(cells, (cell) => cell.subject) };
}

// The values of an entry in data that are kept in columns.
function entryOf(columns, number) {
  return columns.map((column) => column[number]);
}

function crossing({ subject, row }) {
  return subject * index.rows.length + row;
}

function cellsAtCrossing(subject, row) {
  return matrix().crossings.get(crossing({ subject, row })) ?? [];
}

// A name of a provider without chat completions is that of its first wire: `anthropic` is `anthropic.messages`.
function subjectNumber(name) {
  const found = index.subjects.findIndex((each) => each.name === name);
  return found < 0 ? index.subjects.indexOf(wiresOf({ service: name })[0]) : found;
}

// The subjects that stand for the wires of a provider, in the order of the wires.
function wiresOf({ service, mine }) {
  const order = Object.keys(index.wires);
  const same = index.subjects.filter((each) => each.main && each.service === service && Boolean(each.mine) === Boolean(mine));
  return same.sort((a, b) => order.indexOf(a.wire) - order.indexOf(b.wire));
}

// The names of subjects for names in an address, each once: that of a provider may stand for one of its wires.
function namesOf(names) {
  const numbers = names.map(subjectNumber).filter((number) => number >= 0);
  return [...new Set(numbers)].map((number) => index.subjects[number].name);
}

function rowNumber(name) {
  return index.rows.findIndex((each) => each.name === name);
}

function detailsOf(cell) {
  const [claimed, observed, expected, cases, findings, more, claim] = entryOf(matrix().details, cell.details);
  const [claimedText, observedText, expectedText] = textsOf([claimed, observed, expected]);
  return {
    claimed: claimedText,
    observed: observedText,
    expected: expectedText,
    cases: textsOf(cases),
    findings: findings.map(findingOf),
    more,
    // The claims begin with 1, because 0 stands for none.
    claim: claim ? claimOf(entryOf(matrix().claims, claim - 1), claimedText) : null,
  };
}

// The command that repeats the observation of a cell; its subject's commands have places for what differs.
function commandOf(cell) {
  const { commands, texts } = matrix();
  const [, ...claim] = index.rows[cell.row].name.split("/");
  return commands[cell.subject][cell.command]
    .replace("{scenario}", () => texts[cell.scenario])
    .replace("{claim}", () => claim.join("/"));
}

function textsOf(numbers) {
  return numbers.map((number) => matrix().texts[number]);
}

function findingOf(numbers) {
  const [at, message, level, excerpt, asked, answer] = textsOf(numbers);
  return { at, message, level, excerpt, asked, answer };
}

function claimOf([words, since, until, versions, confidence, note, sources, disagrees, others, months], claimed) {
  const meaning = claimed.replace(/^(\d{3})(?: (.*))?$/s, (_, status, text) => `refused with ${status}${text ? `: ${text}` : ""}`);
  return {
    ...valueAt([words, since, until, versions, confidence, note, sources], meaning),
    disagrees: disagrees.map(([value, note, [source]]) => {
      const [valueText, noteText] = textsOf([value, note]);
      return { value: valueText, note: noteText, source: sourceOf(source) };
    }),
    others: others.map((each) => valueAt(each, "")),
    months: months.map(([month, confirmed, contradicted, otherwise]) => ({ month: matrix().texts[month], confirmed, contradicted, otherwise })),
  };
}

// A value of a claim at a time, with its sources.
function valueAt([words, ...about], otherwise) {
  const sources = about.pop();
  const [text, since, until, versions, confidence, note] = textsOf([words, ...about]);
  return { meaning: text || otherwise, since, until, versions, confidence, note, sources: sources.map(sourceOf) };
}

function sourceOf(numbers) {
  const [text, link, read, quote] = textsOf(numbers);
  return { text, url: addressOfSource(text, link), read, quote };
}

// The marks stand for addresses that the text of a source has in it.
function addressOfSource(text, link) {
  if (link === "=") return text;
  return link === "@" ? text.replace(/^([^@]+)@(\w+):(.+)$/s, "https://github.com/$1/blob/$2/$3") : link;
}

// The provider's claims that the rule or probe of a cell reads.
function claimsBehind(cell) {
  const subject = subjectNumber(index.subjects[cell.subject].provider);
  return index.rows[cell.row].claims.flatMap((name) => cellsAtCrossing(subject, rowNumber(name)));
}
