// Downloads of what is shown, as CSV or JSON; the files are made here, without a request.
function buildTools(holder, rowsShown) {
  const csv = make("button", { type: "button" }, "Download as CSV");
  const json = make("button", { type: "button" }, "Download as JSON");
  csv.addEventListener("click", () => save("conformance.csv", "text/csv", inCsv(rowsShown())));
  json.addEventListener("click", () => save("conformance.json", "application/json", JSON.stringify(rowsShown(), null, 1)));
  const link = copier(() => location.href, "Copy link to this view");
  holder.append(csv, " ", json, " ", link);
}

function save(name, type, text) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  make("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

function inCsv(rows) {
  const heads = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  return [heads, ...rows.map((row) => heads.map((head) => row[head] ?? ""))].map((line) => line.map(csvField).join(",")).join("\r\n") + "\r\n";
}

// A text that a spreadsheet would run as a formula begins with an apostrophe.
function csvField(value) {
  const text = String(value);
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

function factDownload(shown) {
  return shown.flatMap((rows, number) =>
    rows.map((row) => {
      const { subject, kind, wire } = row.element.dataset;
      const found = { subject, kind, wire };
      factTables[number].questions.forEach(({ name }, at) => {
        const { value, meaning, notes, evidence } = row.answers[at];
        Object.assign(found, { [name]: value, [`${name}: means`]: meaning, [`${name}: notes`]: notes.join("; "), [`${name}: evidence`]: evidence });
      });
      return found;
    }),
  );
}

function cellDownload(cells) {
  return cells.map((cell) => {
    const { claimed, observed } = detailsOf(cell);
    const { word: result } = index.verdicts[cell.verdict];
    const { name: evidence } = evidenceOf(cell);
    const [subject, row] = pathOf(cell);
    const { wire } = index.subjects[cell.subject];
    return { subject, wire, row, variant: cell.variant, value: valueOf(cell), result, evidence, claimed, observed };
  });
}
