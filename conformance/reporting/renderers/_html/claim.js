// A claim with its sources, in words.
function facts(pairs) {
  const line = ([name, text]) => make("div", {}, make("dt", {}, name), make("dd", {}, ...prose(text)));
  return make("dl", {}, ...pairs.filter(([, text]) => text).map(line));
}

function claimDetails({ meaning, since, until, versions, confidence, note, sources, disagrees, others, months }) {
  return [
    facts([
      ["In words", meaning],
      ["Valid", validity({ since, until, versions })],
      ["Confidence", confidence],
      ["Note", note],
    ]),
    make("ul", { class: "origins" }, ...sources.map(source)),
    ...disagrees.flatMap(disagreement),
    ...claimHistory({ meaning, since, until, versions, sources, others, months }),
  ];
}

function validity({ since, until, versions }) {
  return [since && `from ${since}`, until && `until ${until}`, versions].filter(Boolean).join(", ");
}

// The values of a claim in time, with their sources, and what recordings showed month by month.
function claimHistory({ meaning, since, until, versions, sources, others, months }) {
  const read = sources.map((each) => each.read).filter(Boolean).sort();
  const days = read.length ? `; sources read ${read[0]}${read.at(-1) === read[0] ? "" : ` to ${read.at(-1)}`}` : "";
  const now = make("li", {}, make("b", {}, validity({ since, until, versions }) || "no date known"), `: ${meaning}${days}`);
  const before = others.map((each) => make("li", {}, make("b", {}, validity(each) || "at another time"), `: ${each.meaning}`, ...(each.note ? [` ${each.note}`] : []), make("ul", { class: "origins" }, ...each.sources.map(source))));
  const seen = months.map(({ month, confirmed, contradicted, otherwise }) => {
    const parts = [confirmed && `${confirmed} show it`, contradicted && `${contradicted} contradict it`, otherwise && `${otherwise} show another value`];
    return make("li", {}, make("b", {}, month || "undated"), `: ${parts.filter(Boolean).join(", ")}`);
  });
  return [make("h4", {}, "History"), make("ul", { class: "history" }, now, ...before), ...(seen.length ? [make("h4", {}, "Recordings by month"), make("ul", { class: "history" }, ...seen)] : [])];
}

// Whether another source, or some recordings, say otherwise.
function isContestedCell(cell) {
  if (index.rows[cell.row].family !== "claims") return false;
  return index.verdicts[cell.verdict].name === "departs" || Boolean(detailsOf(cell).claim?.disagrees.length);
}

// What the releases of an SDK did with a rule, as far as they were run.
function releasesOf(cell) {
  const subject = index.subjects[cell.subject];
  if (subject.kind !== "adapter") return [];
  const found = timelineOf(subject.name);
  if (!found) return [make("p", { class: "hint" }, "Only this release was run.")];
  const rule = found.rules.find(({ row }) => row === cell.row);
  const versions = found.releases.map(([version, day], at) => {
    const word = GRADE_WORDS[rule?.grades[at]] ?? (rule ? "does not apply" : "keeps it, or it does not apply");
    return make("li", {}, make("b", {}, version), day ? ` (${day})` : "", `: ${word}`);
  });
  return [make("p", {}, rule ? `${capital(rule.text)}.` : "No release that was run breaks it."), make("ul", { class: "history" }, ...versions)];
}

const GRADE_WORDS = { F: "breaks it", w: "breaks it, which is a SHOULD there", ".": "keeps it", "?": "untested", E: "the driver failed" };

function timelineOf(subjectName) {
  const [adapter, provider] = [subjectName.split("@")[0], subjectName.slice(subjectName.indexOf("/") + 1)];
  return index.timelines.find((each) => each.adapter === adapter && each.provider === provider);
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
