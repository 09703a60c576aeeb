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
  return table("Filtered cells", ["Subject", "Rule, probe or claim", "Variant", "Value", "Result", "Evidence"], shown.map(paperLine));
}

function paperLine(cell) {
  const { expected } = detailsOf(cell);
  const verdict = index.verdicts[cell.verdict];
  const columns = [
    index.rows[cell.row].name,
    cell.variant,
    valueOf(cell),
    `${verdict.mark} ${verdict.word}${expected ? ", expected" : ""}`,
    evidenceOf(cell).word,
  ];
  const name = make("th", { scope: "row" }, index.subjects[cell.subject].name);
  return make("tr", {}, name, ...columns.map((text) => make("td", {}, text)));
}
