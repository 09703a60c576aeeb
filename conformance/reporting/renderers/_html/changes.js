// What changed: the providers' wire by date, and the results since an earlier run if one is stored.
const EARLIER = { broken: "newly failing", fixed: "fixed", added: "new and passing", removed: "no longer tested" };

function showChanges(holder, state) {
  const query = understood(state);
  const isOfWire = ([, provider]) => !state.wire || index.subjects.some((each) => each.name === provider && each.wire === state.wire);
  const found = index.changes.filter((change) => isOfWire(change) && hasChanged(query, change));
  const months = [...grouped(found, ([day]) => day.slice(0, 7))];
  const newest = index.day.slice(0, 7);
  holder.replaceChildren(
    make("h2", {}, "What changed"),
    ...[newest, monthBefore(newest)].map((month) => monthLine(month, found.filter(([day]) => day.startsWith(month)), state.q)),
    ...months.flatMap(([month, same]) => [make("h3", { "data-at": month }, monthName(month)), ...coreFirst(same)]),
    ...earlierRun(),
  );
  return found.map(([day, provider, what, model, before, after]) => ({ day, provider, what, model, before, after }));
}

function hasChanged({ terms, providers, families: of }, change) {
  const text = change.join(" ").toLowerCase();
  const names = terms.filter(({ service, families: each }) => service || each?.length);
  const isNamed = !names.length || providers.has(change[1].split(".")[0]) || names.some((term) => text.includes(term.text)) || of.some(({ name }) => change[3].includes(name));
  return isNamed && terms.every((term) => names.includes(term) || text.includes(term.text));
}

function monthBefore(month) {
  const [year, number] = month.split("-").map(Number);
  return number > 1 ? `${year}-${String(number - 1).padStart(2, "0")}` : `${year - 1}-12`;
}

function monthLine(month, own, q) {
  const core = own.filter(isCore);
  const who = [...new Set((core.length ? core : own).map(([, provider]) => provider))].map(titleOf);
  const few = who.length > MAX_WHO ? `${who.slice(0, MAX_WHO).join(", ")} and ${who.length - MAX_WHO} more` : who.join(", ");
  const text = !own.length
    ? `${monthName(month)}: no dated change${q && ` that has “${q}”`}.`
    : core.length
      ? `${monthName(month)}: ${plural(own.length, "change")}, of these ${core.length} of core facts at ${few}.`
      : `${monthName(month)}: ${plural(own.length, "change")} at ${few}, none of a core fact.`;
  return make("p", {}, make("strong", {}, text));
}

const MAX_WHO = 8;

function isCore([, , what]) {
  return index.core.includes(what);
}

// The core facts of a month come first, under a heading of their own.
function coreFirst(changes) {
  const [core, others] = [changes.filter(isCore), changes.filter((each) => !isCore(each))];
  return core.length ? [make("h4", {}, "Core facts"), changeList(core), ...titled("h4", "Other facts", others.length ? [changeList(others)] : [])] : [changeList(others)];
}

function monthName(month) {
  const [year, number] = month.split("-").map(Number);
  if (!number) return month;
  return new Date(Date.UTC(year, number - 1)).toLocaleString("en", { month: "long", year: "numeric", timeZone: "UTC" });
}

// Changes of one provider on one day stand together.
function changeList(changes) {
  const groups = [...grouped(changes, ([day, provider, , model]) => `${day} ${provider} ${model}`).values()];
  return make("ul", { class: "changes" }, ...groups.map(changeItem));
}

function changeItem(same) {
  const [day, provider, , model] = same[0];
  const link = make("a", { href: writeAddress({ view: "of", path: [provider] }) }, titleOf(provider));
  const parts = same.map(([, , what, , before, after]) => {
    const isNew = !before || before === "not claimed before";
    return make("span", {}, changedClaim(provider, what), ` ${isNew ? "is" : `${before} →`} `, make("b", {}, after));
  });
  return make("li", {}, `${day} `, link, model ? ` (${model})` : "", ": ", ...joined(parts, "; "));
}

// A claim leads to its cell, which says what it means.
function changedClaim(provider, what) {
  const path = [provider, `claims/${what}`];
  const name = make("code", {}, what);
  return cellsAt(path).length ? make("a", { href: writeAddress({ view: "cell", path }) }, name) : name;
}

function earlierRun() {
  const title = make("h3", {}, "Results since the earlier run");
  if (!index.earlier) return [title, make("p", {}, "No results of an earlier run are stored beside these, so test results are not compared.")];
  const kinds = Object.entries(EARLIER).filter(([name]) => index.earlier[name].total);
  if (!kinds.length) return [title, make("p", {}, "No check has another result.")];
  return [title, ...kinds.flatMap(([name, words]) => earlierKind(words, index.earlier[name]))];
}

function earlierKind(words, { total, names }) {
  const more = total > names.length ? [make("li", {}, `and ${total - names.length} more`)] : [];
  return [make("h4", {}, `${capital(words)}: ${total.toLocaleString("en")}`), make("ul", {}, ...names.map((name) => make("li", {}, name)), ...more)];
}
