// Starts a run: a list of experiments, a form of its settings, and the file as text beside it.
import type { ExperimentPage, ExperimentRow, Field, JobView, Mode } from "../../generated/dashboard";
import { Refused, api, message } from "../api";
import { fill, h, labelled, select } from "../element";
import { failure } from "./failure";

class Editor {
  readonly element = h("div", { class: "editor" });
  readonly #fields = h("div", { class: "settings-form", id: "form" });
  readonly #text = h("textarea", { spellcheck: "false", id: "text", "aria-label": "The experiment as text", rows: "30" });
  readonly #said = h("div", { role: "alert", id: "problem" });
  readonly #summary = h("p", { class: "help", role: "status", id: "summary" });
  readonly #tags = h("input", { placeholder: "baseline" });
  readonly #mode: HTMLSelectElement;
  readonly #other = select([["", "none"]], "", { id: "other" });
  #page: ExperimentPage;

  constructor(page: ExperimentPage, allowsRealTime: boolean) {
    this.#page = page;
    const real: [string, string][] = allowsRealTime ? [["emulated", "emulated, in real time"], ["measured", "measured with browsers"]] : [];
    this.#mode = select([["simulated", "simulated, in virtual time"], ...real], "simulated");
    this.#text.addEventListener("change", () => void this.#edit([]));
    const start = h("button", { type: "button", class: "primary", id: "start" }, "Start");
    start.addEventListener("click", () => void this.#start(start));
    this.element.append(
      h(
        "div",
        { class: "card start-bar" },
        this.#summary,
        h("div", { class: "tools" }, labelled("How", this.#mode), labelled("Compare with another controller", this.#other), labelled("Tags, with commas", this.#tags), start),
        this.#said,
      ),
      h(
        "div",
        { class: "halves" },
        h("section", { class: "card", "aria-label": "Settings" }, h("h2", {}, "Settings"), this.#fields),
        h("section", { class: "card", "aria-label": "File" }, h("h2", {}, "File"), this.#text),
      ),
    );
    this.#show(page);
  }

  #show(page: ExperimentPage): void {
    this.#page = page;
    this.#text.value = page.text;
    const runs = page.total === 1 ? "1 run" : `${page.total} runs`;
    this.#summary.textContent = `${page.title}: ${runs} of ${page.duration} s`;
    // Fields keep their place in the page, so that the keyboard does not lose it.
    const keys = page.form.map((field) => field.key).join();
    if (this.#fields.dataset.keys !== keys) {
      this.#fields.dataset.keys = keys;
      fill(this.#fields, ...page.form.map((field) => this.#field(field)));
    } else {
      for (const field of page.form) {
        const input = this.#fields.querySelector<HTMLInputElement | HTMLSelectElement>(`[name="${CSS.escape(field.key)}"]`);
        if (input && input !== document.activeElement) input.value = field.value;
      }
    }
    const controllers = page.form.find((field) => field.key.endsWith(".controller"));
    const before = this.#other.value;
    fill(this.#other, h("option", { value: "" }, controllers ? "none" : "the file names no controller"), ...(controllers?.words ?? []).map((word) => h("option", { value: word, selected: word === before }, word)));
    this.#other.disabled = !controllers;
  }

  #field(field: Field): HTMLElement {
    let input: HTMLInputElement | HTMLSelectElement;
    if (field.kind === "flag") input = select(["true", "false"], field.value, { name: field.key });
    else if (field.kind === "choice" || (field.key.endsWith(".controller") && field.words.includes(field.value))) input = select(field.words, field.value, { name: field.key });
    else input = h("input", { name: field.key, value: field.value, inputmode: field.kind === "number" ? "decimal" : "text" });
    input.addEventListener("change", () => void this.#edit([[field.key, input.value]]));
    return labelled(field.key, input, field.doc);
  }

  /** Changes the text, and shows what is wrong with it. */
  async #edit(set: [string, string][]): Promise<boolean> {
    try {
      this.#show(await api.edit({ name: this.#page.name, text: this.#text.value, set }));
      fill(this.#said);
      this.#text.removeAttribute("aria-invalid");
      return true;
    } catch (error) {
      this.#refuse(error);
      return false;
    }
  }

  #refuse(error: unknown): void {
    fill(this.#said, failure(message(error)));
    if (!(error instanceof Refused) || error.problem.line === null) return;
    this.#text.setAttribute("aria-invalid", "true");
    const lines = this.#text.value.split("\n");
    const start = lines.slice(0, error.problem.line - 1).reduce((sum, line) => sum + line.length + 1, 0);
    this.#text.focus();
    this.#text.setSelectionRange(start, start + (lines[error.problem.line - 1]?.length ?? 0));
  }

  async #start(button: HTMLButtonElement): Promise<void> {
    button.disabled = true;
    try {
      const tags = this.#tags.value.split(",").map((tag) => tag.trim()).filter((tag) => tag !== "");
      const { name } = this.#page;
      const text = this.#text.value;
      const mode = this.#mode.value as Mode;
      const jobs: JobView[] = [await api.start({ name, text, mode, tags })];
      if (this.#other.value !== "") {
        const other = await api.edit({ name, text, set: [["call.*.controller", this.#other.value]] });
        jobs.push(await api.start({ name, text: other.text, mode, tags }));
      }
      location.assign(`/job?${jobs.map((job) => `id=${job.id}`).join("&")}`);
    } catch (error) {
      this.#refuse(error);
      button.disabled = false;
    }
  }
}

/** The list of experiments, grouped by folder, with a filter. */
function chooser(rows: ExperimentRow[]): HTMLElement {
  const filter = h("input", { type: "search", placeholder: "adsl, gcc, jansen-2016", id: "filter" });
  const list = h("ul", { class: "experiments", id: "experiments" });
  const draw = (): void => {
    const words = filter.value.toLowerCase().split(/\s+/);
    const fits = (row: ExperimentRow): boolean => words.every((word) => `${row.name} ${row.title} ${row.source}`.toLowerCase().includes(word));
    const item = (row: ExperimentRow): HTMLElement =>
      h(
        "li",
        {},
        h("a", { href: `/new?name=${encodeURIComponent(row.name)}` }, row.title),
        h("small", { class: "help" }, `${row.name} · ${row.cells} × ${row.runs} runs${row.claims.length > 0 ? ` · ${row.claims.join(", ")}` : ""}${row.is_own ? " · your folder" : ""}`),
      );
    fill(list, ...rows.filter(fits).map(item));
  };
  filter.addEventListener("input", draw);
  draw();
  return h("section", { class: "card" }, labelled("Filter", filter), list);
}

export async function newPage(content: HTMLElement, query: URLSearchParams): Promise<void> {
  document.title = "New run · Weir";
  const run = query.get("run");
  const name = query.get("name");
  if (run === null && name === null) {
    fill(content, h("h1", {}, "New run"), h("p", { class: "lead" }, "Choose an experiment. You can change its settings before it starts."), chooser(await api.experiments()));
    return;
  }
  const facts = await api.facts();
  const page = await api.experiment(run === null ? `name=${encodeURIComponent(name ?? "")}` : `run=${run}`);
  const editor = new Editor(page, facts.allows_real_time);
  fill(content, h("h1", {}, page.title), h("p", { class: "help" }, h("a", { href: "/new" }, "All experiments"), ` · ${page.name}`), editor.element);
}
