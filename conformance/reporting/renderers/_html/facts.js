// The tables of core facts are in the page already: this reads, filters, sorts and pins their rows.
const MEANINGS = ["breaks", "beware", "unknown", "works"];
const factTables = [...document.querySelectorAll("table.facts")].map(readTable);

function readTable(element) {
  const heads = [...element.tHead.rows[0].cells].slice(1);
  const questions = heads.map((head) => ({ name: head.dataset.ask, head: head.textContent.replaceAll("\u00ad", ""), text: head.dataset.text, element: head }));
  return { element, questions, rows: [...element.tBodies[0].rows].map(readRow) };
}

function readRow(element, place) {
  const [head, ...cells] = element.cells;
  const name = head.firstElementChild.textContent;
  const on = (head.querySelector(".on")?.textContent ?? "").replace(/^on /, "");
  const { subject, wire } = element.dataset;
  const label = head.querySelector(".wire")?.textContent ?? "";
  const found = { element, place, name, on, subject, wire, label, answers: cells.map(readAnswer) };
  const words = found.answers.flatMap(({ value, notes }) => [value, ...notes]);
  return { ...found, text: [head.textContent, ...words].join(" ").toLowerCase() };
}

function readAnswer(element) {
  const notes = [...element.querySelectorAll(".n")].map((note) => note.textContent);
  const value = element.querySelector(".v").textContent;
  // The cell may have a second class, of its age.
  const meaning = MEANINGS.find((each) => element.classList.contains(each));
  return { element, value, notes, meaning, evidence: element.querySelector(".e")?.textContent.trim() ?? "" };
}

function preparePins(toggle) {
  for (const { rows } of factTables) {
    for (const row of rows) {
      const button = make("button", { type: "button", class: "pin", "aria-pressed": "false" }, "☆");
      button.setAttribute("aria-label", `Pin ${row.subject}`);
      button.addEventListener("click", () => toggle(row.subject));
      row.element.querySelector(".pin").replaceWith(button);
      row.pin = button;
    }
  }
}

// The head of each column sorts by it: first the worst, then the best, then by name again.
function prepareSorting(sort) {
  for (const { questions } of factTables) {
    for (const { name, element } of questions) {
      const button = make("button", { type: "button", class: "sort" }, element.textContent);
      button.addEventListener("click", () => sort(name));
      element.replaceChildren(button);
    }
  }
}

function showFacts(state) {
  const words = state.q.toLowerCase().split(/\s+/).filter(Boolean);
  const shown = factTables.map((each) => showTable(each, words, state));
  factTables.forEach(({ element, questions }, number) => {
    const asked = questions.findIndex(({ name }) => name === state.ask);
    const isOther = state.ask && asked < 0;
    element.parentElement.hidden = isOther || !shown[number].length;
    element.dataset.asked = asked + 1;
    if (isOther) shown[number] = [];
  });
  return shown;
}

function showTable({ element, questions, rows }, words, { sort, ask, pin, q, wire }) {
  const column = questions.findIndex(({ name }) => name === (sort || ask).replace(/^-/, ""));
  const sign = sort.startsWith("-") ? -1 : 1;
  const exact = q.trim().toLowerCase();
  const pins = namesOf(pin);
  const rank = (row) => (pins.includes(row.subject) ? 0 : exact && [row.name, row.subject, row.on].includes(exact) ? 1 : 2);
  const compare = (a, b) => rank(a) - rank(b) || sign * compareAnswers(a.answers[column], b.answers[column]) || a.place - b.place;
  const ordered = [...rows].sort(compare);
  const [body] = element.tBodies;
  // Moving rows costs a layout of the whole table.
  if (ordered.some((row, number) => body.rows[number] !== row.element)) body.append(...ordered.map((row) => row.element));
  for (const row of rows) {
    const isPinned = pins.includes(row.subject);
    const isOfWire = !wire || row.wire === wire;
    row.element.hidden = !isPinned && !(isOfWire && words.every((word) => row.text.includes(word)));
    row.element.classList.toggle("pinned", isPinned);
    row.pin.setAttribute("aria-pressed", String(isPinned));
    row.pin.textContent = isPinned ? "★" : "☆";
  }
  questions.forEach((question, number) => {
    if (number === column) question.element.setAttribute("aria-sort", sign > 0 ? "descending" : "ascending");
    else question.element.removeAttribute("aria-sort");
  });
  return ordered.filter((row) => !row.element.hidden);
}

function compareAnswers(a, b) {
  if (!a || !b) return 0;
  return MEANINGS.indexOf(a.meaning) - MEANINGS.indexOf(b.meaning) || a.value.localeCompare(b.value);
}

function factRow(subject) {
  return factTables.flatMap(({ rows, questions }) => rows.filter((row) => row.subject === subject).map((row) => ({ ...row, questions })))[0];
}
