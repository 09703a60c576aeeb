// One table per family, built when the family is opened: rows by subjects.
const CELLS_AT_ONCE = 2500;
const LEAST_ROWS = 10;

function showGrids(holder, shown) {
  const open = new Set([...holder.querySelectorAll("details[open]")].map((each) => each.dataset.family));
  const byFamily = grouped(shown, (cell) => index.rows[cell.row].family);
  const made = rowFamilies.filter((family) => byFamily.has(family)).map((family) => foldedGrid(family, byFamily.get(family)));
  holder.replaceChildren(...made);
  for (const fold of made) fold.open = made.length === 1 || open.has(fold.dataset.family);
}

function foldedGrid(family, shown) {
  const rows = new Set(shown.map((cell) => cell.row)).size;
  const counts = [...grouped(shown, (cell) => cell.verdict)].sort(([a], [b]) => a - b).map(([number, of]) => {
    const { name, mark, word } = index.verdicts[number];
    const text = `${of.length.toLocaleString("en")} ${word}`;
    return make("span", { class: `tally ${name}` }, make("span", { "aria-hidden": "true" }, `${mark} `), text);
  });
  const summary = make("summary", {}, make("b", {}, family), ` ${plural(rows, "row")} `, ...counts);
  const fold = make("details", { "data-family": family, "data-at": family }, summary);
  fold.addEventListener("toggle", () => fold.open && unfold(fold, shown));
  return fold;
}

// Builds the table of a family, at least down to a row; existing rows are kept.
function unfold(fold, shown, down = 0) {
  if (!fold.querySelector("table")) fold.append(emptyGrid(fold.dataset.family, shown));
  const table = fold.querySelector("table");
  const rows = [...new Set(shown.map((cell) => cell.row))].sort((a, b) => a - b);
  const columns = columnsOf(shown);
  const done = table.tBodies[0].rows.length;
  const step = Math.max(LEAST_ROWS, Math.floor(CELLS_AT_ONCE / columns.length));
  const until = Math.max(rows.indexOf(down) + 1, done || step);
  addRows(table, rows.slice(done, until), columns, shown);
  offerMore(fold, rows.length - until, step, () => unfold(fold, shown, rows[Math.min(until + step, rows.length) - 1]));
}

function emptyGrid(family, shown) {
  const heads = columnsOf(shown).map((number) => make("th", { scope: "col" }, index.subjects[number].name));
  const head = make("tr", {}, make("th", { scope: "col" }, "Name"), ...heads);
  const table = make("table", { role: "grid", "aria-label": `Cells of ${family}` }, make("thead", {}, head), make("tbody"));
  table.addEventListener("keydown", walk);
  table.addEventListener("click", (event) => openCell(event.target.closest("td[data-row]")));
  return make("div", { class: "scroll" }, table);
}

function columnsOf(shown) {
  return [...new Set(shown.map((cell) => cell.subject))].sort((a, b) => a - b);
}

function addRows(table, rows, columns, shown) {
  const wanted = new Set(rows);
  const own = grouped(shown.filter((cell) => wanted.has(cell.row)), crossing);
  table.tBodies[0].append(...rows.map((row) => gridRow(row, columns, own)));
  const first = table.querySelector("td[data-row]");
  if (first && !table.querySelector("td[tabindex='0']")) first.tabIndex = 0;
}

function gridRow(number, columns, own) {
  const row = index.rows[number];
  const name = row.name.slice(row.family.length + 1);
  const title = make("small", {}, ...prose(row.title));
  const head = make("th", { scope: "row" }, make("code", {}, name), row.level ? ` ${row.level} ` : " ", title);
  const cells = columns.map((subject) => gridCell(subject, number, own.get(crossing({ subject, row: number }))));
  return make("tr", {}, head, ...cells);
}

function gridCell(subject, row, own) {
  if (!own) return make("td", { class: "none", tabindex: "-1" }, make("span", { class: "unseen" }, "does not apply"));
  const alike = grouped(own, (cell) => `${cell.verdict} ${cell.evidence} ${valueOf(cell)}`);
  const lines = [...alike.values()].map((same) => gridLine(same, alike.size > 1));
  return make("td", { tabindex: "-1", "data-subject": subject, "data-row": row }, ...lines);
}

// Variants with the same value share a line; they are named only if there are other lines.
function gridLine(same, isNamed) {
  const [cell] = same;
  const verdict = index.verdicts[cell.verdict];
  const evidence = evidenceOf(cell);
  const variants = same.map((each) => each.variant).filter(Boolean).join(", ");
  const kind = verdict.name === "unknown" ? [] : [make("i", { "aria-hidden": "true" }, ` ${evidence.mark}`), ` ${evidence.word}`];
  const more = [isNamed && variants, same.every((each) => detailsOf(each).expected) && "expected", isContestedCell(cell) && "≠ contested"].filter(Boolean).join(", ");
  return make(
    "span",
    { class: `line ${verdict.name}` },
    make("b", { "aria-hidden": "true" }, verdict.mark),
    make("span", { class: "unseen" }, `${wordOf(cell)}: `),
    make("span", { class: "v" }, valueOf(cell)),
    ...(kind.length || more ? [make("small", {}, ...kind, more && ` (${more})`)] : []),
  );
}

function offerMore(fold, left, step, more) {
  fold.querySelector("button.more")?.remove();
  if (left <= 0) return;
  const button = make("button", { type: "button", class: "more" }, `Show ${Math.min(left, step)} of ${left} more rows`);
  button.addEventListener("click", more);
  fold.append(button);
}

// Arrow keys move by one cell, Home and End within the row, or to the corners with Control.
function walk(event) {
  const cell = event.target.closest("td");
  if (!cell || event.altKey || event.metaKey) return;
  if (event.key === "Enter" || event.key === " ") {
    event.preventDefault();
    openCell(cell);
    return;
  }
  const rows = [...cell.closest("tbody").rows];
  const [row, column] = goal(event, rows.indexOf(cell.parentElement), cell.cellIndex, rows);
  const next = rows[row]?.cells[column];
  if (next && next !== cell && next.tagName === "TD") {
    event.preventDefault();
    moveTo(next);
  }
}

function goal({ key, ctrlKey }, row, column, rows) {
  const last = rows[row].cells.length - 1;
  const moves = {
    ArrowUp: [row - 1, column],
    ArrowDown: [row + 1, column],
    ArrowLeft: [row, column - 1],
    ArrowRight: [row, column + 1],
    PageUp: [Math.max(row - 10, 0), column],
    PageDown: [Math.min(row + 10, rows.length - 1), column],
    Home: [ctrlKey ? 0 : row, 1],
    End: [ctrlKey ? rows.length - 1 : row, last],
  };
  return moves[key] ?? [row, column];
}

function moveTo(cell) {
  for (const other of cell.closest("table").querySelectorAll("td[tabindex='0']")) other.tabIndex = -1;
  cell.tabIndex = 0;
  cell.focus();
}

// Opens the family of a cell and focuses the cell, so that the reader returns to it.
function reveal(holder, cell, shown) {
  const { family } = index.rows[cell.row];
  const fold = [...holder.children].find((each) => each.dataset.family === family);
  if (!fold) return;
  fold.open = true;
  unfold(fold, shown.filter((each) => index.rows[each.row].family === family), cell.row);
  const found = fold.querySelector(`td[data-subject="${cell.subject}"][data-row="${cell.row}"]`);
  if (found) moveTo(found);
}
