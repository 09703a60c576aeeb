// The address determines what is shown: input changes the address, and the address changes the page.
const form = document.getElementById("form");
const dialog = document.getElementById("details");
const holder = document.getElementById("grids");
const paper = document.getElementById("paper");
const narrow = matchMedia("(max-width: 40rem)");
const printed = matchMedia("print");
let applied = "";
let visible = [];
let isOpenedHere = false;

function start() {
  buildForm(form);
  for (const each of document.querySelectorAll("section[hidden]")) each.hidden = each === paper;
  document.getElementById("who").open = false;
  document.getElementById("legend").open = !narrow.matches;
  document.getElementById("groups").open = !narrow.matches;
  form.addEventListener("input", ({ target }) => go([], readForm(form), target.type === "search"));
  form.addEventListener("reset", (event) => {
    event.preventDefault();
    go([], readAddress("").filter);
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  document.getElementById("skip").addEventListener("click", skip);
  dialog.addEventListener("close", leaveCell);
  dialog.addEventListener("click", ({ target }) => target === dialog && dialog.close());
  printed.addEventListener("change", print);
  addEventListener("hashchange", show);
  show();
}

// Typing replaces the address, so that Back skips the single letters.
function go(cellPath, filter, isTyped = false) {
  const address = writeAddress(cellPath, filter);
  if (address === (location.hash || "#")) return false;
  if (isTyped) location.replace(address);
  else location.hash = address;
  return true;
}

function show() {
  const { cellPath, filter } = readAddress(location.hash);
  const wanted = writeAddress([], filter);
  if (wanted !== applied) {
    applied = wanted;
    writeForm(form, filter);
    refresh(filter);
  }
  if (cellPath.length) showCell(cellPath);
  else if (dialog.open) dialog.close();
}

function refresh(filter) {
  visible = passing(filter);
  const subjects = new Set(visible.map((cell) => cell.subject)).size;
  const rows = new Set(visible.map((cell) => cell.row)).size;
  const all = cells.length.toLocaleString("en");
  const words = `${plural(visible.length, "cell")} of ${all}: ${plural(subjects, "subject")}, ${plural(rows, "row")}`;
  document.getElementById("count").textContent = isFiltered(filter) ? `${words} (filtered).` : `${words}.`;
  showSummary(document.getElementById("families"), visible, filter);
  showGrids(holder, visible);
  print();
}

function showCell(cellPath) {
  const found = cellsAt(cellPath);
  // The reader went from one cell to another, so Back no longer leads to the table in one step.
  if (dialog.open) isOpenedHere = false;
  if (found.length && !isOpenedHere && !dialog.open) reveal(holder, found[0], visible);
  fillDialog(dialog, cellPath, found);
  if (!dialog.open) dialog.showModal();
  dialog.scrollTop = 0;
}

function openCell(cell) {
  if (!cell?.dataset.row) return;
  const [first] = crossings.get(crossing({ subject: Number(cell.dataset.subject), row: Number(cell.dataset.row) }));
  moveTo(cell);
  isOpenedHere = go(pathOf(first), readAddress(location.hash).filter);
}

// Closing a cell that was opened here goes one step back in the history; a cell that was opened by its own address is
// replaced by the table.
function leaveCell() {
  const { cellPath, filter } = readAddress(location.hash);
  const isStep = isOpenedHere;
  isOpenedHere = false;
  if (cellPath.length && isStep) history.back();
  else if (cellPath.length) location.replace(writeAddress([], filter));
}

function skip(event) {
  event.preventDefault();
  document.getElementById("cells").focus();
}

function print() {
  if (printed.matches) showPaper(paper, visible);
  else hidePaper(paper);
}

start();
