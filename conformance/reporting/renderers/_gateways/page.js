"use strict";

const data = JSON.parse(document.getElementById("data").textContent);
const dialog = document.querySelector("dialog");
const NAMES = {
  "front/request": "1. What the client sends to the gateway",
  "back/request": "2. What the gateway sends to the provider",
  "back/response": "3. What the provider answers",
  "front/response": "4. What the gateway answers",
};

function element(name, text) {
  const made = document.createElement(name);
  made.textContent = text;
  return made;
}

function findings(cell) {
  const pairs = [["case", cell.case]];
  if (cell.says) {
    pairs.push(["finding", cell.says], ["before the gateway", cell.before], ["after it", cell.after]);
    pairs.push([cell.cases.length === 1 ? "in 1 case" : `in ${cell.cases.length} cases`, cell.cases.join(", ")]);
  }
  return pairs.flatMap(([term, text]) => [element("dt", term), element("dd", text)]);
}

function known(cell) {
  if (!cell.issue) return [];
  const link = element("a", cell.issue);
  link.href = cell.issue;
  const held = document.createElement("dd");
  held.append(link);
  return [element("dt", "known as"), held];
}

function show(button) {
  const cell = data.cells[button.dataset.cell];
  const row = button.closest("tr");
  const head = button.closest("table").tHead.rows[0].cells[button.closest("td").cellIndex];
  const name = button.closest("section").querySelector("h2").textContent;
  document.getElementById("shown-fact").textContent = `${row.cells[0].textContent}: ${row.cells[0].title}`;
  document.getElementById("shown-ends").textContent = `${name}, ${head.textContent}: ${button.textContent}`;
  document.getElementById("shown-finding").replaceChildren(...findings(cell), ...known(cell));
  const bodies = cell.bodies.map(([end, number]) => {
    const held = document.createElement("section");
    const shown = element("pre", data.bodies[number]);
    shown.tabIndex = 0;
    held.append(element("h3", NAMES[end]), shown);
    return held;
  });
  if (!bodies.length) bodies.push(element("p", "The results hold no bodies of this case; run it again to see them."));
  document.getElementById("shown-bodies").replaceChildren(...bodies);
  dialog.showModal();
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("button[data-cell]");
  if (button) show(button);
  else if (event.target === dialog) dialog.close();
});
