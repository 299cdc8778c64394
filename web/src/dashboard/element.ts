// Builds elements. Text is always text: nothing here reads HTML.

export type Child = Node | string | null | undefined | false;
type Properties = Record<string, unknown>;

/** An element with properties and children. `on…` are listeners, `class` and the rest are attributes. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Properties = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value as EventListener);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  add(element, children);
  return element;
}

function add(parent: Element, children: Child[]): void {
  for (const child of children) if (child) parent.append(child);
}

/** Replaces the children of an element. */
export function fill(parent: Element, ...children: Child[]): void {
  parent.replaceChildren();
  add(parent, children);
}

/** A table in a box that can be scrolled sideways. */
export function table(heads: Child[], rows: Child[][], name: string): HTMLElement {
  const cells = (row: Child[]): HTMLElement => h("tr", {}, ...row.map((cell) => h("td", {}, cell)));
  const head = h("thead", {}, h("tr", {}, ...heads.map((cell) => h("th", { scope: "col" }, cell))));
  const body = h("tbody", {}, ...rows.map(cells));
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": name }, h("table", {}, head, body));
}

/** A button that copies a text and says so. */
export function copyButton(text: () => string, name = "Copy"): HTMLButtonElement {
  const button = h("button", { type: "button" }, name);
  button.addEventListener("click", () => {
    void navigator.clipboard.writeText(text()).then(
      () => say(button, "Copied", name),
      () => say(button, "Not copied: mark the text instead", name),
    );
  });
  return button;
}

function say(button: HTMLButtonElement, word: string, before: string): void {
  button.textContent = word;
  button.addEventListener("blur", () => (button.textContent = before), { once: true });
}

/** Lets the browser save a file. */
export function save(name: string, content: Blob): void {
  const link = h("a", { href: URL.createObjectURL(content), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** A labelled field. */
export function labelled(text: string, field: HTMLElement, help = ""): HTMLElement {
  return h("label", { class: "field" }, h("span", {}, text), field, help !== "" && h("small", { class: "help" }, help));
}

/** A choice of words; each is a value, or a value with its text. */
export function select(values: (string | [string, string])[], chosen = "", properties: Properties = {}): HTMLSelectElement {
  const option = (value: string | [string, string]): HTMLOptionElement => {
    const [word, text] = typeof value === "string" ? [value, value] : value;
    return h("option", { value: word, selected: word === chosen }, text);
  };
  return h("select", properties, ...values.map(option));
}
