// What is behind a cell: what is claimed and by whom, what was found, and how to see it again.
function fillDialog(dialog, place, named) {
  const close = make("button", { type: "button", class: "close" }, "Close");
  close.addEventListener("click", () => dialog.close());
  const body = named.length ? story(named) : nowhere(place);
  dialog.replaceChildren(close, ...body);
}

function nowhere(place) {
  const words = `Nothing is known of ${place.filter(Boolean).join(", ")}.`;
  return [make("h2", { id: "heading" }, "No such cell"), make("p", {}, words)];
}

function story(named) {
  const subject = data.subjects[named[0].subject];
  const row = data.rows[named[0].row];
  const about = [row.title, row.level && `It is a ${row.level} for the ${row.side}.`].filter(Boolean).join(" ");
  const versions = subject.versions.length ? `, ${subject.versions.join(", ")}` : "";
  return [
    make("h2", { id: "heading" }, make("code", {}, row.name), " ", make("span", {}, subject.title)),
    make("p", {}, ...prose(about)),
    make("p", { class: "hint" }, `${subject.name} (${subject.kind}), model ${subject.model}${versions}`),
    ...named.map(observation),
    ...background(named[0]),
  ];
}

function observation(cell) {
  const verdict = data.verdicts[cell.verdict];
  const evidence = data.evidence[cell.evidence];
  const details = detailsOf(cell);
  const symbol = make("span", { class: verdict.name, "aria-hidden": "true" }, verdict.short);
  const words = [verdict.name, evidence.name, cell.variant].filter(Boolean).join(", ");
  const title = make("h3", {}, symbol, ` ${words}`);
  return make(
    "article",
    { class: verdict.name },
    title,
    make("p", { class: "hint" }, `${verdict.text}. Evidence: ${evidence.text}.`),
    facts([
      ["Claimed", details.claimed || "nothing"],
      ["Observed", details.observed || observedWords(cell)],
      ["Expected", details.expected || expectedWords(verdict)],
      ["In", details.cases.join(", ")],
    ]),
    ...told(plural(details.findings.length, "finding"), details.findings.map(finding)),
    ...told("The claim", details.claim ? claimStory(details.claim) : []),
    ...told("See it again", details.again ? copied(details.again, "Copy command") : []),
    permanent(cell),
  );
}

function told(title, parts) {
  return parts.length ? [make("h4", {}, title), ...parts] : [];
}

function observedWords({ judged }) {
  return judged ? `${plural(judged, "part")} judged, nothing found` : "nothing";
}

function expectedWords({ name }) {
  return ["breaks", "departs", "untested", "errored"].includes(name) ? "no: no known failure covers it" : "yes";
}

function facts(pairs) {
  const line = ([name, text]) => make("div", {}, make("dt", {}, name), make("dd", {}, ...prose(text)));
  return make("dl", {}, ...pairs.filter(([, text]) => text).map(line));
}

function finding({ at, message, level, excerpt, asked, answer }) {
  return make(
    "div",
    { class: "finding" },
    make("p", {}, make("strong", {}, level), " at ", make("code", {}, at || "/"), ": ", ...prose(message)),
    ...(answer ? [make("p", {}, `The provider is claimed to answer: ${answer}`)] : []),
    ...(asked ? [quoted("In answer to", asked)] : []),
    ...(excerpt ? [quoted("What stands there", excerpt)] : []),
  );
}

function quoted(title, text) {
  return make("figure", {}, make("figcaption", {}, title), make("pre", { tabindex: "0" }, text));
}

function background(cell) {
  const behind = claimsBehind(cell);
  if (!behind.length) return [];
  return [make("h3", {}, "What is claimed in this matter"), ...behind.flatMap(claimBehind)];
}

function claimBehind(cell) {
  const { claim, claimed } = detailsOf(cell);
  const href = writeAddress(placeOf(cell), readAddress(location.hash).filter);
  const title = make("h4", {}, make("a", { href }, data.rows[cell.row].name), `: ${claimed}`);
  return claim ? [title, ...claimStory(claim)] : [title];
}

function claimStory({ says, since, until, versions, confidence, note, sources, disagrees }) {
  return [
    facts([
      ["In words", says],
      ["Holds", [since && `from ${since}`, until && `until ${until}`, versions].filter(Boolean).join(", ")],
      ["Confidence", confidence],
      ["Note", note],
    ]),
    make("ul", { class: "origins" }, ...sources.map(source)),
    ...disagrees.flatMap(otherwise),
  ];
}

function otherwise({ value, note, source: from }) {
  return [make("p", {}, ...prose(`Another source says ${value}. ${note}`)), make("ul", {}, source(from))];
}

function source({ url, read, quote }) {
  return make("li", {}, link(url), read && `, read ${read}`, ...(quote ? [make("blockquote", {}, quote)] : []));
}

// An address is a link where it leads to the web; any other is words.
function link(url) {
  const isWeb = /^https?:\/\/[^\s]+$/i.test(url) && URL.canParse(url);
  return isWeb ? make("a", { href: url, rel: "noopener noreferrer external" }, url) : make("span", {}, url);
}

function permanent(cell) {
  const href = writeAddress(placeOf(cell), {});
  const copy = copier(() => new URL(href, location.href).href, "Copy link");
  return make("p", { class: "permanent" }, make("a", { href }, "Permanent link"), " ", copy);
}

function copied(text, title) {
  return [make("pre", { tabindex: "0", class: "command" }, text), copier(() => text, title)];
}

function copier(text, title) {
  const button = make("button", { type: "button", class: "copy" }, title);
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text());
      button.textContent = "Copied";
    } catch {
      button.textContent = "Not allowed here: select and copy it";
    }
  });
  return button;
}
