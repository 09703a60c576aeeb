// Creates every element that the script adds: strings become text, never markup.
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

// A text in which words between backticks are code.
function prose(text) {
  return text.split("`").map((part, number) => (number % 2 ? make("code", {}, part) : part));
}

function plural(count, noun) {
  return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
}

// Puts elements between others: [a, b] and ", " give a, ", ", b.
function joined(many, between) {
  return many.flatMap((each, number) => (number ? [between, each] : [each]));
}

function titled(level, title, children) {
  return children.length ? [make(level, {}, title), ...children] : [];
}

function grouped(many, key) {
  const groups = new Map();
  for (const each of many) {
    const name = key(each);
    if (!groups.has(name)) groups.set(name, []);
    groups.get(name).push(each);
  }
  return groups;
}

function table(label, head, rows) {
  const heads = head.map((name) => make("th", { scope: "col" }, ...name.split(/(?<=\.)/).flatMap((part) => [part, make("wbr")])));
  const body = make("tbody", {}, ...rows);
  return make("table", { "aria-label": label }, make("thead", {}, make("tr", {}, ...heads)), body);
}

function scrolling(label, content) {
  return make("div", { class: "scroll", role: "region", "aria-label": label, tabindex: "0" }, content);
}

function copyable(text, title) {
  return [make("pre", { tabindex: "0" }, text), copier(() => text, title)];
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

// Only web addresses become links.
function webLink(url, text) {
  const isWeb = /^https?:\/\/[^\s]+$/i.test(url) && URL.canParse(url);
  return isWeb ? make("a", { href: url, rel: "noopener noreferrer external" }, text) : make("span", {}, text);
}
