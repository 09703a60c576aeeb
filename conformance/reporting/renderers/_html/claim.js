// A claim with its sources, in words.
function facts(pairs) {
  const line = ([name, text]) => make("div", {}, make("dt", {}, name), make("dd", {}, ...prose(text)));
  return make("dl", {}, ...pairs.filter(([, text]) => text).map(line));
}

function claimDetails({ meaning, since, until, versions, confidence, note, sources, disagrees }) {
  return [
    facts([
      ["In words", meaning],
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
  return make("li", {}, webLink(url, text), read && `, read ${read}`, ...(quote ? [make("blockquote", {}, quote)] : []));
}

// The provider's claims behind a rule or probe.
function background(cell) {
  const behind = claimsBehind(cell);
  return titled("h3", "Why: the claims behind it", behind.flatMap(claimBehind));
}

function claimBehind(cell) {
  const { claim, claimed } = detailsOf(cell);
  const name = index.rows[cell.row].name.replace(/^claims\//, "");
  const title = make("h4", {}, make("a", { href: addressOf(cell) }, name), `: ${claimed}`);
  return claim ? [title, ...claimDetails(claim)] : [title];
}

// The page that lists the recordings behind a claim; it lies beside this one.
function recordings(cell) {
  const [family, claim] = index.rows[cell.row].name.split("/");
  if (family !== "claims" || index.evidence[cell.evidence].name !== "recorded") return [];
  const page = `evidence/${index.subjects[cell.subject].name}.md`;
  const href = `${page}#${claim.replaceAll(".", "").toLowerCase()}`;
  return [make("p", {}, make("a", { href }, `Recordings of ${claim}`))];
}
