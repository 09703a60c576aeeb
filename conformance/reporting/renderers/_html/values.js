// The value of a cell in a few characters: what a claim says, how a probe was answered, how often a rule failed.
const WIDTH = 22;

function valueOf(cell) {
  const { claimed, observed, findings, more } = detailsOf(cell);
  const { family } = index.rows[cell.row];
  const verdict = index.verdicts[cell.verdict];
  if (family === "claims") return short((claimed || "unknown").replace(/^(\d{3}) .*/s, "$1"));
  if (family === "probes") return probeValue(cell, claimed, observed);
  if (findings.length) return plural(findings.length + more, "finding");
  if (verdict.name === "untested" || verdict.name === "errored") return verdict.word;
  return cell.judged ? `${cell.judged.toLocaleString("en")} checked` : verdict.word;
}

// What only the simulator answered is what the profile claims; without a claim it says nothing.
function probeValue(cell, claimed, observed) {
  const isPlayed = index.evidence[cell.evidence].name === "simulated";
  const text = isPlayed ? claimed : observed;
  if (!text || text === "unknown") return "unknown";
  return short(text.replace(/^refused with (\d+).*/s, "$1").split(":")[0]);
}

// A claim is confirmed or not, where a rule passes or fails.
const OF_CLAIMS = { conforms: "confirmed", declared: "claimed, not observed", departs: "contradicted in part" };

function wordOf(cell) {
  const { name, word } = index.verdicts[cell.verdict];
  return (index.rows[cell.row].family === "claims" && OF_CLAIMS[name]) || word;
}

// An adapter is judged by what it really sent, though its provider was simulated.
function evidenceOf(cell) {
  const kind = index.evidence[cell.evidence];
  return kind.name === "simulated" && index.subjects[cell.subject].kind === "adapter" ? index.sent : kind;
}

function short(text) {
  return text.length > WIDTH ? `${text.slice(0, WIDTH - 1)}…` : text;
}
