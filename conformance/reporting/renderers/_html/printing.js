// On paper nothing folds: the filtered cells are listed, one per line, up to a limit.
const MAX_PRINTED = 2000;

function showPaper(section, shown) {
  section.hidden = false;
  const heading = section.querySelector("h2");
  const count = `${plural(shown.length, "filtered cell")}.`;
  const tooMany = `${count} Only up to ${MAX_PRINTED.toLocaleString("en")} are printed: use the filters.`;
  const isTooLong = shown.length > MAX_PRINTED;
  section.replaceChildren(heading, make("p", {}, isTooLong ? tooMany : count), ...(isTooLong ? [] : [paperTable(shown)]));
}

function hidePaper(section) {
  section.hidden = true;
  section.replaceChildren(section.querySelector("h2"));
}

function paperTable(shown) {
  const head = ["Subject", "Rule, probe or claim", "Variant", "Verdict", "Evidence", "Observed"];
  const heads = head.map((name) => make("th", { scope: "col" }, name));
  return make("table", {}, make("thead", {}, make("tr", {}, ...heads)), make("tbody", {}, ...shown.map(paperLine)));
}

function paperLine(cell) {
  const { claimed, observed, expected } = detailsOf(cell);
  const verdict = data.verdicts[cell.verdict];
  const words = observed || (claimed && `claimed: ${claimed}`);
  const columns = [
    data.rows[cell.row].name,
    cell.variant,
    `${verdict.short} ${verdict.name}${expected ? ", expected" : ""}`,
    data.evidence[cell.evidence].name,
    words,
  ];
  const name = make("th", { scope: "row" }, data.subjects[cell.subject].name);
  return make("tr", {}, name, ...columns.map((text) => make("td", {}, text)));
}
