// The list of runs, with the jobs under way.
import type { JobView, RunRow } from "../../generated/dashboard";
import { api } from "../api";
import { fill, h, labelled, select } from "../element";
import type { Jobs } from "../events";
import { jobCard } from "./job";

const PAGE = 100;

interface Column {
  name: string;
  value: (run: RunRow) => string | number;
}

const COLUMNS: Column[] = [
  { name: "run", value: (run) => run.id },
  { name: "experiment", value: (run) => run.experiment },
  { name: "cell", value: (run) => run.cell },
  { name: "seed", value: (run) => Number(run.seed) },
  { name: "mode", value: (run) => run.mode },
  { name: "length", value: (run) => run.duration },
  { name: "endpoints", value: (run) => run.endpoints.join(", ") },
  { name: "tags", value: (run) => run.tags.join(", ") },
];

/** Everything about a run that the filter looks at. */
const words = (run: RunRow): string =>
  [`#${run.id}`, run.experiment, run.cell, `seed ${run.seed}`, run.mode, ...run.endpoints, ...run.tags].join(" ").toLowerCase();

class RunList {
  readonly element = h("section", { "aria-label": "Runs" });
  readonly #chosen = new Set<number>();
  readonly #body = h("tbody");
  readonly #count = h("p", { class: "help", role: "status", id: "count" });
  readonly #actions = h("div", { class: "tools" });
  readonly #more = h("button", { type: "button" }, "Show more");
  readonly #filter = h("input", { type: "search", placeholder: "experiment, cell, seed 3, tag", id: "filter" });
  readonly #mode = select([["", "all modes"], "simulated", "emulated", "measured"]);
  readonly #tag = select([["", "all tags"]]);
  #runs: RunRow[] = [];
  #words = new Map<number, string>();
  #order = { column: 0, isDown: true };
  #shown = PAGE;

  constructor() {
    for (const field of [this.#filter, this.#mode, this.#tag]) field.addEventListener("input", () => this.#reset());
    this.#more.addEventListener("click", () => {
      this.#shown += PAGE * 5;
      this.#draw();
    });
    const filters = h("div", { class: "filters" }, labelled("Filter", this.#filter), labelled("Mode", this.#mode), labelled("Tag", this.#tag));
    const heads = COLUMNS.map((column, index) => {
      const head = h("th", { scope: "col", "aria-sort": index === 0 ? "descending" : "none" });
      const button = h("button", { type: "button", class: "sort" }, column.name);
      button.addEventListener("click", () => {
        this.#order = { column: index, isDown: this.#order.column === index ? !this.#order.isDown : false };
        for (const other of heads) other.setAttribute("aria-sort", "none");
        head.setAttribute("aria-sort", this.#order.isDown ? "descending" : "ascending");
        this.#reset();
      });
      head.append(button);
      return head;
    });
    const choose = h("th", { scope: "col" }, h("span", { class: "visually-hidden" }, "Choose"));
    const list = h("table", { id: "runs" }, h("thead", {}, h("tr", {}, choose, ...heads)), this.#body);
    this.element.append(filters, this.#actions, this.#count, h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Runs" }, list), this.#more);
  }

  show(runs: RunRow[]): void {
    this.#runs = runs;
    this.#words = new Map(runs.map((run) => [run.id, words(run)]));
    const tags = [...new Set(runs.flatMap((run) => run.tags))].sort();
    const before = this.#tag.value;
    fill(this.#tag, h("option", { value: "" }, "all tags"), ...tags.map((tag) => h("option", { value: tag, selected: tag === before }, tag)));
    this.#draw();
  }

  #reset(): void {
    this.#shown = PAGE;
    this.#draw();
  }

  #found(): RunRow[] {
    const wanted = this.#filter.value.toLowerCase().split(/\s+/).filter((word) => word !== "");
    const column = COLUMNS[this.#order.column] ?? COLUMNS[0];
    const found = this.#runs.filter((run) => {
      const text = this.#words.get(run.id) ?? "";
      return (this.#mode.value === "" || run.mode === this.#mode.value)
        && (this.#tag.value === "" || run.tags.includes(this.#tag.value))
        && wanted.every((word) => text.includes(word));
    });
    const sign = this.#order.isDown ? -1 : 1;
    const compare = (one: RunRow, other: RunRow): number => {
      const [a, b] = [column?.value(one) ?? "", column?.value(other) ?? ""];
      return sign * (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b)));
    };
    return found.sort(compare);
  }

  #draw(): void {
    const found = this.#found();
    fill(this.#body, ...found.slice(0, this.#shown).map((run) => this.#row(run)));
    this.#more.hidden = found.length <= this.#shown;
    this.#count.textContent = `${found.length} of ${this.#runs.length} runs`;
    this.#actionsFor();
  }

  #row(run: RunRow): HTMLElement {
    const box = h("input", { type: "checkbox", "aria-label": `Choose run ${run.id}`, checked: this.#chosen.has(run.id) });
    box.addEventListener("change", () => {
      if (box.checked) this.#chosen.add(run.id);
      else this.#chosen.delete(run.id);
      this.#actionsFor();
    });
    const limited = run.is_cpu_limited ? h("span", { class: "warning", title: "The machine lacked processor time; this looks like a slower network." }, " CPU-limited") : null;
    const tags = run.tags.map((tag) => h("span", { class: "tag" }, tag));
    const link = h("a", { href: `/run?run=${run.id}` }, run.experiment);
    const cells: (Node | string)[][] = [[String(run.id)], [link], [run.cell], [run.seed], [run.mode, ...(limited ? [limited] : [])], [`${run.duration} s`], [run.endpoints.join(", ")], tags];
    return h("tr", {}, h("td", {}, box), ...cells.map((cell) => h("td", {}, ...cell)));
  }

  #actionsFor(): void {
    const chosen = [...this.#chosen].sort((one, other) => one - other);
    const query = chosen.map((id) => `run=${id}`).join("&");
    fill(
      this.#actions,
      chosen.length === 0
        ? h("span", { class: "help" }, "Choose runs to see them on top of each other.")
        : h("a", { class: "button primary", href: `/run?${query}` }, chosen.length === 1 ? "Open the run" : `Compare ${chosen.length} runs`),
      chosen.length > 1 && h("a", { class: "button", href: `/run?${query}&mean=1` }, "Mean of the runs"),
      chosen.length > 0 && h("a", { class: "button", href: `/api/csv?${query}`, download: "runs.csv" }, "All samples as CSV"),
    );
  }
}

const EXAMPLES: [string, string][] = [
  ["situations/adsl-upload", "A call while a file goes up, on a DSL line"],
  ["carlucci-2017/fig11", "GCC with a bottleneck of changing capacity"],
];

function empty(): HTMLElement {
  const example = ([name, text]: [string, string]): HTMLElement =>
    h("li", {}, h("a", { href: `/new?name=${encodeURIComponent(name)}` }, text), h("small", { class: "help" }, ` ${name}`));
  return h(
    "section",
    { class: "card", id: "empty" },
    h("h2", {}, "No runs yet"),
    h("p", {}, "Start one, and see two controllers on the same network:"),
    h("ul", {}, ...EXAMPLES.map(example)),
    h("p", {}, h("a", { class: "button primary", href: "/new" }, "New run")),
  );
}

export async function runsPage(content: HTMLElement, jobs: Jobs): Promise<void> {
  document.title = "Runs · Weir";
  const facts = await api.facts();
  const list = new RunList();
  const underway = h("section", { "aria-label": "Jobs", id: "jobs" });
  const hint = h("div");
  const kept = facts.is_temporary
    ? h("p", { class: "help" }, "Runs are kept until the server ends. Start it with --store FILE to keep them longer.")
    : h("p", { class: "help" }, `Store: ${facts.store}`);
  fill(content, h("div", { class: "title-row" }, h("h1", {}, "Runs"), h("a", { class: "button primary", href: "/new" }, "New run")), kept, underway, hint, list.element);
  let finished = -1;
  const refresh = async (): Promise<void> => {
    const runs = await api.runs();
    fill(hint, runs.length === 0 ? empty() : null);
    list.element.hidden = runs.length === 0;
    list.show(runs);
    requestAnimationFrame(() => performance.mark("drawn"));
  };
  const draw = (all: JobView[]): void => {
    const shown = all.filter((job) => job.status === "running" || job.status === "waiting");
    const recent = all.filter((job) => !shown.includes(job)).slice(0, 3);
    fill(underway, ...[...shown, ...recent].map((job) => jobCard(job)));
    const count = all.reduce((sum, job) => sum + job.runs.length, 0);
    if (count !== finished && finished >= 0) void refresh();
    finished = count;
  };
  await refresh();
  jobs.follow(draw);
}
