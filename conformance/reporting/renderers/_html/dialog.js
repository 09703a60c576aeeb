// The details of a cell: the value first, then how it is known, what failed, how to fix it, and how to repeat it.
function fillDialog(dialog, path, found) {
  const close = make("button", { type: "button", class: "close" }, "Close");
  close.addEventListener("click", () => dialog.close());
  const ofModel = path[2]?.startsWith("on ") ? modelReport(path) : null;
  dialog.replaceChildren(close, ...(ofModel ?? (found.length ? cellReport(found) : notFound(path))));
}

function notFound(path) {
  const text = `There is no cell for ${path.filter(Boolean).join(", ")}.`;
  return [make("h2", { id: "heading" }, "Cell not found"), make("p", {}, text)];
}

function cellReport(found) {
  const subject = index.subjects[found[0].subject];
  const row = index.rows[found[0].row];
  const about = [row.title, row.level && `${row.level} for the ${row.side}.`].filter(Boolean).join(" ");
  const versions = subject.versions.length ? `, ${subject.versions.join(", ")}` : "";
  const name = row.name.replace(/^(probes|claims)\//, "");
  return [
    make("h2", { id: "heading" }, make("a", { href: writeAddress({ view: "of", path: [subject.name] }) }, subject.name), ": ", make("code", {}, name)),
    make("p", {}, ...prose(about)),
    make("p", { class: "hint" }, `${subject.title} (${subject.kind}), model ${subject.model}${versions}`),
    ...found.map(observation),
    ...background(found[0]),
  ];
}

function observation(cell) {
  const verdict = index.verdicts[cell.verdict];
  const evidence = evidenceOf(cell);
  const details = detailsOf(cell);
  const isClaim = index.rows[cell.row].family === "claims";
  const value = make("span", { class: `${verdict.name} value` }, make("b", { "aria-hidden": "true" }, `${verdict.mark} `), valueOf(cell));
  const words = [wordOf(cell), verdict.name === "unknown" ? "" : evidence.word, cell.variant].filter(Boolean).join(", ");
  return make(
    "article",
    { class: verdict.name },
    make("h3", {}, value, ` ${words}`),
    make("p", { class: "hint" }, verdict.name === "unknown" ? `${capital(verdict.text)}.` : `${capital(verdict.text)}. Evidence: ${evidence.text}.`),
    facts([
      [isClaim ? "Claimed" : "Should be", details.claimed || (isClaim ? "nothing" : "")],
      ["Seen", details.observed || seenText(cell)],
      ["Expected failure", details.expected || expectedText(verdict)],
      ["Cases", details.cases.join(", ")],
      ["Breaks", index.rows[cell.row].harm],
    ]),
    ...failures(cell, details, "h4"),
    ...titled("h4", "Claim", details.claim ? claimDetails(details.claim) : []),
    ...titled("h4", "Releases", releasesOf(cell)),
    ...titled("h4", "Recordings", recordings(cell)),
    ...titled("h4", "Repeat this run", commandOf(cell) ? copyable(commandOf(cell), "Copy command") : []),
    permanent(cell),
  );
}

// What failed in a cell, with the fix and the exact requests or replies that the results hold.
function failures(cell, { findings, more }, level) {
  const { fix } = index.rows[cell.row];
  if (!findings.length) return [];
  return [
    ...titled(level, "To fix it", fix ? [make("p", {}, ...prose(fix))] : []),
    make(level, {}, plural(findings.length + more, "finding")),
    ...findings.map(finding),
    ...(more ? [make("p", {}, `And ${plural(more, "finding")} more like these.`)] : []),
  ];
}

function finding({ at, message, level, excerpt, asked, answer }) {
  return make(
    "div",
    { class: "finding" },
    make("p", {}, make("strong", {}, level), " at ", make("code", {}, at || "/"), ": ", ...prose(message)),
    ...(answer ? [make("p", {}, `The provider answers: ${answer}`)] : []),
    ...(asked ? [quoted("Last message of the request", asked)] : []),
    ...(excerpt ? [quoted(at.includes("/request") ? `What was sent, at ${at}` : `What was received, at ${at}`, excerpt)] : []),
  );
}

function quoted(title, text) {
  return make("figure", {}, make("figcaption", {}, title), make("pre", { tabindex: "0" }, text));
}

function capital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function seenText(cell) {
  if (index.rows[cell.row].family === "probes" && evidenceOf(cell).name === "simulated") return "the simulator answers as claimed";
  const { judged } = cell;
  return judged ? `${plural(judged, "element")} checked, no findings` : "nothing";
}

function expectedText({ name }) {
  return ["breaks", "departs", "untested", "errored"].includes(name) ? "no" : "";
}

function permanent(cell) {
  const href = addressOf(cell);
  const copy = copier(() => new URL(href, location.href).href, "Copy link");
  return make("p", { class: "permanent" }, make("a", { href }, "Permanent link"), " ", copy);
}
