// The page of one provider or SDK: its answers, the second request to copy, and what fails with its fix.
const FAILING = ["breaks", "errored", "untested", "departs"];

function showSubject(holder, name) {
  const number = subjectNumber(name);
  if (number < 0) {
    holder.replaceChildren(make("h2", {}, "Not found"), make("p", {}, `There is no provider or SDK named “${name}”.`));
    return;
  }
  const subject = index.subjects[number];
  const cells = matrix().bySubject.get(number) ?? [];
  const isAdapter = subject.kind === "adapter";
  const versions = subject.versions.length ? ` Versions: ${subject.versions.join(", ")}.` : "";
  const compare = isAdapter ? [] : [" ", make("a", { href: writeAddress({ view: "compare", pin: [subject.name] }) }, "Compare it with…")];
  holder.replaceChildren(
    make("h2", {}, subject.title),
    make("p", {}, `${capital(subject.kind)} ${subject.name}, model ${subject.model}.${versions}`, ...compare),
    ...(isAdapter ? releaseLines([factRow(subject.name)].filter(Boolean)) : servedModels(subject)),
    ...(wiresOf(subject).length > 1 && subject.main ? wireColumns(subject) : subjectAnswers(subject)),
    ...(isAdapter ? [...failedRows(cells, true), wholeRequests(subject)] : testedOn(subject)),
    ...titled("h3", "The second request, to copy", secondRequests(subject)),
    ...(isAdapter ? [] : failedRows(cells, false)),
    ...titled("h3", "Everything else", [everything(subject)]),
  );
}

function subjectAnswers({ name }) {
  const row = factRow(name);
  if (!row) return [];
  const lines = row.answers.map(({ value, notes, meaning, evidence, element }, number) => {
    const href = element.querySelector("a")?.getAttribute("href");
    const shown = [make("b", { "aria-hidden": "true" }, `${MARKS[meaning]} `), make("span", { class: "unseen" }, `${meaning}: `), value];
    const linked = href ? make("a", { href, class: meaning }, ...shown) : make("span", { class: meaning }, ...shown);
    const more = [...notes, evidence].join("; ");
    return make("div", {}, make("dt", {}, row.questions[number].text), make("dd", {}, linked, `; ${more}`));
  });
  return [make("dl", { class: "answered" }, ...lines)];
}

// The wires of a provider side by side: what holds on one says nothing of another.
function wireColumns(subject) {
  const wires = wiresOf(subject);
  const rows = wires.map(({ name }) => factRow(name));
  const heads = wires.map(({ name, wire }) => {
    const link = make("a", { href: writeAddress({ view: "of", path: [name] }), title: index.wires[wire] }, capital(wire));
    if (name === subject.name) link.setAttribute("aria-current", "page");
    return make("th", { scope: "col" }, link);
  });
  const lines = rows[0].questions.map(({ element, text }, number) => {
    const title = make("th", { scope: "row", title: text }, element.textContent);
    const cells = rows.map((row, at) => {
      const cell = row.answers[number].element.cloneNode(true);
      cell.dataset.head = capital(wires[at].wire);
      return cell;
    });
    return make("tr", {}, title, ...cells);
  });
  const corner = make("th", { scope: "col" }, "Fact");
  const columns = make("table", { class: "facts wires", "aria-label": "Core facts by API" }, make("thead", {}, make("tr", {}, corner, ...heads)), make("tbody", {}, ...lines));
  const all = make("a", { href: writeAddress({ view: "compare", pin: wires.map(({ name }) => name) }) }, "Compare every rule, probe and claim of these APIs");
  const below = `Below: ${index.wires[subject.wire]} only.`;
  return [columns, make("p", {}, all, ". ", below)];
}

// The models that it serves, as far as claims or recordings name them, with links to all their hosts.
function servedModels({ name }) {
  const own = families.filter(({ number }) => hostsOf(number).has(name));
  return own.length ? [make("details", {}, make("summary", {}, `Its ${plural(own.length, "model")}, and who else serves them`), make("p", {}, ...joined(own.map(familyLink), " · ")))] : [];
}

function testedOn({ service }) {
  const rows = factTables[1].rows.filter((row) => row.service === service);
  return titled("h3", "SDKs tested on it: do they keep the reasoning?", [...answerLines(rows, 0, MEANINGS), ...releaseLines(rows)]);
}

function secondRequests({ provider }) {
  const found = matrix().requests[provider] ?? [];
  const shown = found.flatMap(([title, body]) => [make("h4", {}, title), ...copyable(body, "Copy request")]);
  const hint = "Ids and reasoning are examples: send those of the reply, unchanged.";
  return shown.length ? [make("p", { class: "hint" }, hint), ...shown] : [];
}

function failedRows(cells, isAdapter) {
  const failed = cells.filter((cell) => FAILING.includes(index.verdicts[cell.verdict].name));
  const byRow = [...grouped(failed, (cell) => cell.row)].sort(([, a], [, b]) => severity(a) - severity(b));
  if (!byRow.length) return [make("h3", {}, "What fails"), make("p", {}, "Nothing that was checked.")];
  const who = isAdapter ? "What fails, and how to fix it" : "What fails";
  return [make("h3", {}, who), ...byRow.map(([row, same]) => failedRow(index.rows[row], same))];
}

function wholeRequests({ page }) {
  return make("p", {}, make("a", { href: page }, "All of it on one page, with the whole requests"));
}

function severity(cells) {
  return Math.min(...cells.map((cell) => FAILING.indexOf(index.verdicts[cell.verdict].name)));
}

function failedRow(row, cells) {
  const [cell] = [...cells].sort((a, b) => severity([a]) - severity([b]));
  const verdict = index.verdicts[cell.verdict];
  const details = detailsOf(cell);
  const reason = details.expected ? [make("p", {}, `Expected failure: ${details.expected}`)] : [];
  const words = `${verdict.word}, ${evidenceOf(cell).word}: ${plural(details.cases.length, "case")}`;
  const summary = make("summary", { class: verdict.name }, make("b", { "aria-hidden": "true" }, `${verdict.mark} `), row.title || row.name, make("small", {}, ` ${[row.level, words].filter(Boolean).join(", ")}`));
  const fold = make("details", { class: "failed", "data-at": row.name }, summary);
  fold.addEventListener("toggle", () => {
    if (!fold.open || fold.childElementCount > 1) return;
    const seen = details.findings.length ? [] : [facts([["Should be", details.claimed], ["Seen", details.observed]])];
    const command = commandOf(cell);
    fold.append(
      make("p", {}, make("a", { href: addressOf(cell) }, row.name), `: ${details.cases.slice(0, 8).join(", ")}${details.cases.length > 8 ? " …" : ""}`),
      ...reason,
      ...seen,
      ...failures(cell, details, "h4"),
      ...titled("h4", "Repeat it", command ? copyable(command, "Copy command") : []),
    );
  });
  return fold;
}

function everything({ name }) {
  const links = KINDS.map(([view]) => make("a", { href: writeAddress({ view, q: name }) }, `its ${view}`));
  return make("p", {}, ...joined(links, ", "));
}
