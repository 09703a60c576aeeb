// The address says what is shown: everything that is clicked or typed changes it, and a change of it changes the page.
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

// Typing replaces the address, so that Back leads to before it and not through every letter.
function go(place, filter, isTyped = false) {
  const address = writeAddress(place, filter);
  if (address === (location.hash || "#")) return false;
  if (isTyped) location.replace(address);
  else location.hash = address;
  return true;
}

function show() {
  const { place, filter } = readAddress(location.hash);
  const wanted = writeAddress([], filter);
  if (wanted !== applied) {
    applied = wanted;
    writeForm(form, filter);
    refresh(filter);
  }
  if (place.length) showCell(place);
  else if (dialog.open) dialog.close();
}

function refresh(filter) {
  visible = passing(filter);
  const subjects = new Set(visible.map((cell) => cell.subject)).size;
  const rows = new Set(visible.map((cell) => cell.row)).size;
  const all = cells.length.toLocaleString("en");
  const words = `${plural(visible.length, "cell")} of ${all}: ${plural(subjects, "subject")}, ${plural(rows, "row")}`;
  document.getElementById("count").textContent = isFiltered(filter) ? `${words}, as filtered.` : `${words}.`;
  showSummary(document.getElementById("families"), visible, filter);
  showGrids(holder, visible);
  print();
}

function showCell(place) {
  const named = cellsAt(place);
  // From one cell's details to another's: there is no one step back to the table any more.
  if (dialog.open) isOpenedHere = false;
  if (named.length && !isOpenedHere && !dialog.open) reveal(holder, named[0], visible);
  fillDialog(dialog, place, named);
  if (!dialog.open) dialog.showModal();
  dialog.scrollTop = 0;
}

function openCell(cell) {
  if (!cell?.dataset.row) return;
  const [first] = crossings.get(crossing({ subject: Number(cell.dataset.subject), row: Number(cell.dataset.row) }));
  moveTo(cell);
  isOpenedHere = go(placeOf(first), readAddress(location.hash).filter);
}

// Back from a closed cell leads to before it: one opened here goes a step back itself, and one opened by an address of
// its own leaves its place in the history to the table around it.
function leaveCell() {
  const { place, filter } = readAddress(location.hash);
  const isStep = isOpenedHere;
  isOpenedHere = false;
  if (place.length && isStep) history.back();
  else if (place.length) location.replace(writeAddress([], filter));
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
