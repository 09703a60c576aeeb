// The details of a cell: claims with sources, findings, and the command that repeats it.
function fillDialog(dialog, path, found) {
  const close = make("button", { type: "button", class: "close" }, "Close");
  close.addEventListener("click", () => dialog.close());
  const body = found.length ? report(found) : notFound(path);
  dialog.replaceChildren(close, ...body);
}

function notFound(path) {
  const text = `There is no cell for ${path.filter(Boolean).join(", ")}.`;
  return [make("h2", { id: "heading" }, "Cell not found"), make("p", {}, text)];
}

function report(found) {
  const subject = data.subjects[found[0].subject];
  const row = data.rows[found[0].row];
  const about = [row.title, row.level && `${row.level} for the ${row.side}.`].filter(Boolean).join(" ");
  const versions = subject.versions.length ? `, ${subject.versions.join(", ")}` : "";
  return [
    make("h2", { id: "heading" }, make("code", {}, row.name), " ", make("span", {}, subject.title)),
    make("p", {}, ...prose(about)),
    make("p", { class: "hint" }, `${subject.name} (${subject.kind}), model ${subject.model}${versions}`),
    ...found.map(observation),
    ...background(found[0]),
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
    make("p", { class: "hint" }, `${verdict.name}: ${verdict.text}; ${evidence.name}: ${evidence.text}.`),
    facts([
      ["Claimed", details.claimed || "no claim"],
      ["Observed", details.observed || observedText(cell)],
      ["Expected failure", details.expected || expectedText(verdict)],
      ["Cases", details.cases.join(", ")],
    ]),
    ...titled(plural(details.findings.length, "finding"), details.findings.map(finding)),
    ...titled("Claim", details.claim ? claimDetails(details.claim) : []),
    ...titled("Recordings", recordings(cell)),
    ...titled("Repeat this run", details.command ? copyable(details.command, "Copy command") : []),
    permanent(cell),
  );
}

// The page that lists the recordings behind a claim; it lies beside this one.
function recordings(cell) {
  const [family, claim] = data.rows[cell.row].name.split("/");
  if (family !== "claims" || data.evidence[cell.evidence].name !== "recorded") return [];
  const page = `evidence/${data.subjects[cell.subject].name}.md`;
  const href = `${page}#${claim.replaceAll(".", "").toLowerCase()}`;
  return [make("p", {}, make("a", { href }, `Recordings of ${claim}`))];
}

function titled(title, children) {
  return children.length ? [make("h4", {}, title), ...children] : [];
}

function observedText({ judged }) {
  return judged ? `${plural(judged, "element")} checked, no findings` : "nothing";
}

function expectedText({ name }) {
  return ["breaks", "departs", "untested", "errored"].includes(name) ? "no" : "";
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
    ...(answer ? [make("p", {}, `Answer that the provider's profile claims: ${answer}`)] : []),
    ...(asked ? [quoted("Last message of the request", asked)] : []),
    ...(excerpt ? [quoted("Excerpt", excerpt)] : []),
  );
}

function quoted(title, text) {
  return make("figure", {}, make("figcaption", {}, title), make("pre", { tabindex: "0" }, text));
}

function background(cell) {
  const behind = claimsBehind(cell);
  if (!behind.length) return [];
  return [make("h3", {}, "Related claims"), ...behind.flatMap(claimBehind)];
}

function claimBehind(cell) {
  const { claim, claimed } = detailsOf(cell);
  const href = writeAddress(pathOf(cell), readAddress(location.hash).filter);
  const title = make("h4", {}, make("a", { href }, data.rows[cell.row].name), `: ${claimed}`);
  return claim ? [title, ...claimDetails(claim)] : [title];
}

function claimDetails({ meaning, since, until, versions, confidence, note, sources, disagrees }) {
  return [
    facts([
      ["Meaning", meaning],
      ["Valid", [since && `from ${since}`, until && `until ${until}`, versions].filter(Boolean).join(", ")],
      ["Confidence", confidence],
      ["Note", note],
    ]),
    make("ul", { class: "origins" }, ...sources.map(source)),
    ...disagrees.flatMap(disagreement),
  ];
}

function disagreement({ value, note, source: other }) {
  return [make("p", {}, ...prose(`Another source disagrees: ${value}. ${note}`)), make("ul", {}, source(other))];
}

function source({ text, url, read, quote }) {
  return make("li", {}, link(url, text), read && `, read ${read}`, ...(quote ? [make("blockquote", {}, quote)] : []));
}

// Only web addresses become links.
function link(url, text) {
  const isWeb = /^https?:\/\/[^\s]+$/i.test(url) && URL.canParse(url);
  return isWeb ? make("a", { href: url, rel: "noopener noreferrer external" }, text) : make("span", {}, text);
}

function permanent(cell) {
  const href = writeAddress(pathOf(cell), {});
  const copy = copier(() => new URL(href, location.href).href, "Copy link");
  return make("p", { class: "permanent" }, make("a", { href }, "Permanent link"), " ", copy);
}

function copyable(text, title) {
  return [make("pre", { tabindex: "0", class: "command" }, text), copier(() => text, title)];
}

function copier(text, title) {
  const button = make("button", { type: "button", class: "copy" }, title);
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text());
      button.textContent = "Copied";
    } catch {
      button.textContent = "Copying is blocked; select the text instead";
    }
  });
  return button;
}
