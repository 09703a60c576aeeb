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
  const { subject, wire, service, kind } = element.dataset;
  const label = head.querySelector(".wire")?.textContent ?? "";
  const found = { element, place, name, on, subject, wire, label, service, kind, answers: cells.map(readAnswer) };
  const words = found.answers.flatMap(({ value, notes }) => [value, ...notes]);
  return { ...found, text: [subject, head.textContent, ...words].join(" ").toLowerCase() };
}

function readAnswer(element) {
  const notes = [...element.querySelectorAll(".n")].map((note) => note.textContent);
  const value = element.querySelector(".v").textContent;
  // The cell may have a second class, of its age.
  const meaning = MEANINGS.find((each) => element.classList.contains(each));
  return { element, value, notes, meaning, isContested: Boolean(element.querySelector(".c")), evidence: element.querySelector(".e")?.textContent.trim() ?? "" };
}

function preparePins(toggle) {
  for (const { rows } of factTables) {
    for (const row of rows) {
      if (!row.element.querySelector(".pin")) continue;
      const button = make("button", { type: "button", class: "pin", "aria-pressed": "false" }, "☆");
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

// The tables that a view shows; a search shows all that have what it looks for.
const SHOWN = { "": ["providers", "adapters"], sdks: ["adapters"], agents: ["agents"], gateways: ["gateways"] };

function showFacts(state) {
  const query = understood(state);
  const shown = factTables.map((each) => showTable(each, query, state));
  const isSearch = Boolean(state.q);
  factTables.forEach(({ element, questions }, number) => {
    const asked = questions.findIndex(({ name }) => name === state.ask);
    const isOther = (state.ask && asked < 0) || (!isSearch && !state.ask && !SHOWN[state.view].includes(element.id));
    element.parentElement.hidden = isOther || !shown[number].length;
    element.dataset.asked = asked + 1;
    if (isOther) shown[number] = [];
  });
  return shown;
}

function showTable({ element, questions, rows }, query, { sort, ask, pin, wire, only }) {
  const column = questions.findIndex(({ name }) => name === (sort || ask).replace(/^-/, ""));
  const sign = sort.startsWith("-") ? -1 : 1;
  const pins = namesOf(pin);
  const rank = (row) => (pins.includes(row.subject) ? 0 : query.providers.has(row.service) && !row.on ? 1 : 2);
  const compare = (a, b) => rank(a) - rank(b) || sign * compareAnswers(a.answers[column], b.answers[column]) || a.place - b.place;
  const ordered = [...rows].sort(compare);
  const [body] = element.tBodies;
  // Moving rows costs a layout of the whole table.
  if (ordered.some((row, number) => body.rows[number] !== row.element)) body.append(...ordered.map((row) => row.element));
  for (const row of rows) {
    const isPinned = pins.includes(row.subject);
    const fits = (!wire || row.wire === wire) && (only !== "contested" || row.answers.some(({ isContested }) => isContested));
    row.element.hidden = !isPinned && !(fits && finds(query, row));
    row.element.classList.toggle("pinned", isPinned);
    if (row.pin) markPin(row, isPinned, pins);
  }
  questions.forEach((question, number) => {
    if (number === column) question.element.setAttribute("aria-sort", sign > 0 ? "descending" : "ascending");
    else question.element.removeAttribute("aria-sort");
  });
  return ordered.filter((row) => !row.element.hidden);
}

// The second pin opens the comparison, so it says so.
function markPin({ pin, subject }, isPinned, pins) {
  const compares = !isPinned && pins.length === 1;
  pin.setAttribute("aria-pressed", String(isPinned));
  pin.setAttribute("aria-label", compares ? `Compare ${pins[0]} with ${subject}` : `Pin ${subject}`);
  pin.textContent = isPinned ? "★" : compares ? "⇄" : "☆";
  pin.title = compares ? `Compare with ${pins[0]}` : "Pin, to compare";
}

function compareAnswers(a, b) {
  if (!a || !b) return 0;
  return MEANINGS.indexOf(a.meaning) - MEANINGS.indexOf(b.meaning) || a.value.localeCompare(b.value);
}

function factRow(subject) {
  return factTables.flatMap(({ rows, questions }) => rows.filter((row) => row.subject === subject).map((row) => ({ ...row, questions })))[0];
}
