// What changed: the providers' wire by date, and the results since an earlier run if one is stored.
const EARLIER = { broken: "newly failing", fixed: "fixed", added: "new and passing", removed: "no longer tested" };

function showChanges(holder, { q, wire }) {
  const words = q.toLowerCase().split(/\s+/).filter(Boolean);
  const isOfWire = ([, provider]) => !wire || index.subjects.some((each) => each.name === provider && each.wire === wire);
  const named = index.changes.filter((change) => words.every((word) => change.join(" ").toLowerCase().includes(word)));
  const found = named.filter(isOfWire);
  const months = [...grouped(found, ([day]) => day.slice(0, 7))];
  const newest = index.day.slice(0, 7);
  const current = found.filter(([day]) => day.startsWith(newest));
  const who = [...new Set(current.map(([, provider]) => provider))];
  const text = current.length
    ? `${monthName(newest)}: ${plural(current.length, "change")} at ${who.join(", ")}.`
    : `${monthName(newest)}: no dated change${q && ` that has “${q}”`}.`;
  holder.replaceChildren(
    make("h2", {}, "What changed"),
    make("p", {}, make("strong", {}, text)),
    ...months.flatMap(([month, same]) => [make("h3", { "data-at": month }, monthName(month)), changeList(same)]),
    ...earlierRun(),
  );
  return found.map(([day, provider, what, model, before, after]) => ({ day, provider, what, model, before, after }));
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
  const link = make("a", { href: writeAddress({ view: "of", path: [provider] }) }, provider);
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
