// The address determines what is shown: input changes the address, and the address changes the page.
const byId = (id) => document.getElementById(id);
const search = byId("q");
const dialog = byId("details");
const printed = matchMedia("print");
const SCROLLED = 200;
const SETTLING_MS = 250;
let state = readAddress("");
let rowsToSave = () => [];
let printable = [];
let cellsSeen = 0;
let isSettled = false;
let settling = 0;

function start() {
  byId("tools").hidden = false;
  preparePins(togglePin);
  prepareSorting(toggleSort);
  buildFilters(byId("filters"), (chosen) => go({ ...state, ...chosen, at: "" }));
  buildTools(byId("tools"), () => rowsToSave());
  byId("form").addEventListener("submit", (event) => event.preventDefault());
  byId("form").addEventListener("reset", (event) => {
    event.preventDefault();
    go({ ...state, q: "", wire: "", ask: "", only: "", sort: "", at: "" });
    search.focus();
  });
  byId("wire")?.addEventListener("change", ({ target }) => go({ ...searchable(state), wire: target.value, at: "" }));
  search.addEventListener("input", () => go({ ...searchable(state), q: search.value.trim(), ask: "", only: "", at: "" }, true));
  byId("skip").addEventListener("click", skip);
  dialog.addEventListener("close", leaveCell);
  dialog.addEventListener("click", ({ target }) => target === dialog && dialog.close());
  printed.addEventListener("change", print);
  addEventListener("hashchange", show);
  addEventListener("scroll", () => {
    clearTimeout(settling);
    settling = setTimeout(keepPlace, SETTLING_MS);
  });
  show();
}

// A search typed on the page of a subject, or on one without a search, leads back to the core facts.
function searchable(from) {
  return ["of", "compare", "trust", "model"].includes(from.view) ? { ...from, view: "", path: [] } : from;
}

// Typing replaces the address, so that Back skips the single letters.
function go(next, isTyped = false) {
  const address = writeAddress(next);
  if (address === writeAddress(readAddress(location.hash))) return false;
  if (isTyped) location.replace(address);
  else location.hash = address;
  return true;
}

// The second pin opens the comparison; Back leads to the rows with both pins.
function togglePin(subject) {
  const isPinned = state.pin.includes(subject);
  const pin = isPinned ? state.pin.filter((each) => each !== subject) : [...state.pin, subject];
  const opens = !isPinned && pin.length === 2;
  go({ ...state, pin });
  if (opens) go({ view: "compare", pin, wire: state.wire });
}

function toggleSort(name) {
  const next = { [name]: `-${name}`, [`-${name}`]: "" };
  go({ ...state, ask: "", sort: next[state.sort || state.ask] ?? name, at: "" });
}

function show() {
  const wanted = readAddress(location.hash);
  if (wanted.view === "cell") {
    const isFirst = !isSettled;
    if (isFirst) showView({ ...wanted, view: viewOfCell(wanted.path), path: [] });
    showCell(wanted.path, isFirst);
    return;
  }
  // A reader who comes back from a cell finds the view as it was, with the focus where it was.
  if (!isSettled || writeAddress(wanted) !== writeAddress(state)) showView(wanted);
  if (dialog.open) dialog.close();
}

function viewOfCell([, row = ""]) {
  const found = KINDS.find(([, , isOf]) => isOf({ family: row.split("/")[0] }));
  return row ? found[0] : "";
}

function showView(next) {
  const isSamePlace = isSettled && next.view === state.view && next.path.join() === state.path.join();
  state = next;
  if (search.value.trim() !== state.q) search.value = state.q;
  if (byId("wire")) byId("wire").value = state.wire;
  document.body.classList.toggle("searching", Boolean(state.q || state.ask || state.only) || !["", "sdks", ...KINDS.map(([view]) => view)].includes(state.view));
  markCurrent();
  const isGrid = KINDS.some(([view]) => view === state.view);
  const isFacts = state.view in SHOWN;
  byId("facts").hidden = !isFacts;
  byId("trust").hidden = (!isFacts && state.view !== "trust") || Boolean(state.q);
  document.body.dataset.view = state.view;
  byId("filters").hidden = byId("grids").hidden = !isGrid;
  byId("other").hidden = !["of", "compare", "changes", "model", "models"].includes(state.view);
  printable = [];
  if (isGrid) showCells();
  else showOthers();
  print();
  if (!isSamePlace || !isSettled) restorePlace();
  isSettled = true;
}

function markCurrent() {
  for (const link of document.querySelectorAll("nav a")) {
    const target = readAddress(link.getAttribute("href"));
    const isQuestion = link.closest("#asks");
    const isCurrent = target.view === state.view && target.ask === (isQuestion ? state.ask : "") && target.only === (isQuestion ? state.only : "");
    const isAsked = isQuestion && !target.ask && !target.only && target.view === "";
    if (isCurrent && !isAsked) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
    const kept = link.closest("#views") ? { q: state.q } : {};
    link.href = writeAddress({ ...target, ...kept, wire: state.wire, pin: state.pin });
  }
}

function showCells() {
  printable = passing(state);
  writeFilters(byId("filters"), state);
  const subjects = new Set(printable.map((cell) => cell.subject)).size;
  const rows = new Set(printable.map((cell) => cell.row)).size;
  const words = `${plural(printable.length, "cell")}: ${plural(subjects, "subject")}, ${plural(rows, "row")}`;
  byId("count").textContent = printable.length ? `${words}${isFiltered(state) || state.q ? " (filtered)" : ""}.` : whyEmpty(state);
  byId("answer").hidden = true;
  showGrids(byId("grids"), printable);
  rowsToSave = () => cellDownload(printable);
}

function showOthers() {
  const [holder, answer] = [byId("other"), byId("answer")];
  byId("count").textContent = "";
  answer.hidden = true;
  if (state.view in SHOWN) return showCoreFacts(answer);
  if (state.view === "of") showSubject(holder, state.path[0] ?? "");
  const rows = { compare: showCompare, changes: showChanges, model: showModel, models: showModels }[state.view]?.(holder, state) ?? [];
  rowsToSave = () => (state.view === "of" ? cellDownload(matrix().bySubject.get(subjectNumber(state.path[0])) ?? []) : rows);
}

const COUNTED = { providers: "provider row", adapters: "SDK row", agents: "agent row", gateways: "gateway row" };

function showCoreFacts(answer) {
  const shown = showFacts(state);
  showAnswer(answer, state, shown);
  rowsToSave = () => factDownload(shown);
  const pins = state.pin.length > 1 ? [" ", make("a", { href: writeAddress({ ...state, view: "compare" }) }, `Compare ${state.pin.length} pinned`)] : [];
  const hint = state.pin.length === 1 ? [` Tap ⇄ at another row to compare it with ${state.pin[0]}.`] : [];
  const counted = shown.map((rows, number) => [rows.length, COUNTED[factTables[number].element.id]]).filter(([count]) => count);
  const isNarrowed = state.q || state.wire || state.only;
  const counts = isNarrowed ? `${counted.map(([count, noun]) => plural(count, noun)).join(", ")}${counted.length ? "." : ""}` : "";
  const isEmpty = !counted.length && !understood(state).families.length;
  byId("count").replaceChildren(...(!isEmpty || state.ask ? [counts] : [nothingFound(state)]), ...hint, ...pins);
}

function showCell(cellPath, isFirst) {
  const found = cellsAt(cellPath);
  if (isFirst && found.length) reveal(byId("grids"), found[0], printable);
  cellsSeen = isFirst || dialog.open ? 0 : 1;
  fillDialog(dialog, cellPath, found);
  if (!dialog.open) dialog.showModal();
  dialog.scrollTop = 0;
}

function openCell(cell) {
  if (!cell?.dataset.row) return;
  const [first] = cellsAtCrossing(Number(cell.dataset.subject), Number(cell.dataset.row));
  moveTo(cell);
  location.hash = addressOf(first);
}

// Closing a cell leads back to the view beneath it, which is still shown: one step back if one step led to the cell.
function leaveCell() {
  if (readAddress(location.hash).view !== "cell") return;
  if (cellsSeen === 1) history.back();
  else location.replace(writeAddress(state));
}

function skip(event) {
  event.preventDefault();
  byId("main").focus();
}

// The place is the first row, family or heading in sight; it becomes part of the address.
function keepPlace() {
  if (dialog.open || readAddress(location.hash).view === "cell") return;
  const marked = [...document.querySelectorAll("main [data-subject], main [data-at]")].filter((each) => each.tagName !== "TD");
  const first = scrollY > SCROLLED ? marked.find((each) => each.checkVisibility() && each.getBoundingClientRect().top > 0) : null;
  state = { ...state, at: first ? (first.dataset.at ?? first.dataset.subject) : "" };
  history.replaceState(history.state, "", writeAddress(state));
}

function restorePlace() {
  if (!state.at) {
    if (isSettled) scrollTo(0, 0);
    return;
  }
  const marked = [...document.querySelectorAll("main [data-subject], main [data-at]")];
  marked.find((each) => (each.dataset.at ?? each.dataset.subject) === state.at && each.tagName !== "TD")?.scrollIntoView();
}

function print() {
  if (printed.matches && printable.length) showPaper(byId("paper"), printable);
  else hidePaper(byId("paper"));
}

// The first paint comes before the script: what it shows is in the page already. A tab that is not seen paints nothing.
if (document.hidden) start();
else requestAnimationFrame(() => setTimeout(start));
