// The claims of the literature, and what the simulator finds.
import type { ClaimRow, JobView } from "../../generated/dashboard";
import { api, message } from "../api";
import { type Child, fill, h, labelled, select, table } from "../element";
import type { Jobs } from "../events";
import { failure } from "./failure";
import { isFinished, jobCard } from "./job";

const statusOf = (claim: ClaimRow): string => claim.verdict?.status ?? "not verified";

/** A claim, opened: what is published, what was measured, and why both differ. */
function detail(claim: ClaimRow): HTMLElement {
  const { verdict } = claim;
  const rows: [string, Child][] = [
    ["Setting", claim.setting],
    ["Published", claim.published],
    ["Check", claim.check],
    ["Measured", verdict ? `${verdict.measured} (${verdict.runs} ${verdict.runs === 1 ? "run" : "runs"} per cell)` : "not verified since this server was started"],
    ["Why", verdict?.status === "reproduced" ? "" : (verdict?.note ?? claim.note)],
    ["Experiment", claim.is_sweep ? `sweep ${claim.experiment}: weir sweep ${claim.experiment}` : h("a", { href: `/new?name=${encodeURIComponent(claim.experiment)}` }, claim.experiment)],
  ];
  const facts = rows.filter(([, value]) => value !== "").map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value)));
  const figures = (verdict?.figures ?? []).map((number, index) =>
    h("img", { class: "figure", loading: "lazy", alt: `Figure ${index + 1} of ${claim.experiment}`, src: `/api/jobs/${verdict?.job}/figures/${number}` }));
  const values = (verdict?.values ?? []).map(({ cell, name, value }) => [cell, name, value]);
  return h(
    "div",
    { class: "claim-detail" },
    h("dl", { class: "wide" }, ...facts),
    values.length > 0 && h("details", {}, h("summary", {}, "Values by cell"), table(["cell", "value", "mean"], values, "Values by cell")),
    ...figures,
  );
}

class Claims {
  readonly element = h("section", {});
  readonly #paper = select([["", "all papers"]], "", { id: "paper" });
  readonly #status = select([["", "all"], "reproduced", "not reproduced", "not run", "not verified"], "", { id: "status" });
  readonly #filter = h("input", { type: "search", placeholder: "fairness, Fig. 11, C-5", id: "filter" });
  readonly #list = h("div", { id: "claims" });
  readonly #count = h("p", { class: "help", role: "status" });
  readonly #chosen = new Set<string>();
  readonly #opened = new Set<string>();
  readonly #runs = h("input", { type: "number", min: "1", max: "100", value: "1", id: "seeds" });
  readonly #verify = h("button", { type: "button", class: "primary", id: "verify" }, "Verify");
  readonly #said = h("div");
  #claims: ClaimRow[] = [];

  constructor() {
    for (const field of [this.#paper, this.#status, this.#filter]) field.addEventListener("input", () => this.#draw());
    this.#verify.addEventListener("click", () => void this.#start());
    this.element.append(
      h("div", { class: "filters" }, labelled("Filter", this.#filter), labelled("Paper", this.#paper), labelled("Verdict", this.#status)),
      h("div", { class: "tools" }, labelled("Seeds per cell", this.#runs), this.#verify),
      this.#said,
      this.#count,
      this.#list,
    );
  }

  show(claims: ClaimRow[]): void {
    this.#claims = claims;
    if (this.#paper.options.length === 1) for (const paper of new Set(claims.map((claim) => claim.paper))) this.#paper.append(h("option", {}, paper));
    this.#draw();
  }

  #found(): ClaimRow[] {
    const words = this.#filter.value.toLowerCase().split(/\s+/);
    return this.#claims.filter((claim) => {
      const text = `${claim.id} ${claim.place} ${claim.setting} ${claim.published} ${claim.experiment}`.toLowerCase();
      return (this.#paper.value === "" || claim.paper === this.#paper.value)
        && (this.#status.value === "" || statusOf(claim) === this.#status.value)
        && words.every((word) => text.includes(word));
    });
  }

  /** The claims that the button verifies: the chosen ones, else the shown ones. */
  #wanted(): string[] {
    const shown = this.#found().filter((claim) => !claim.is_sweep).map((claim) => claim.id);
    return this.#chosen.size > 0 ? [...this.#chosen] : shown;
  }

  #draw(): void {
    const found = this.#found();
    fill(this.#list, ...found.map((claim) => this.#row(claim)));
    const tally = ["reproduced", "not reproduced", "not run", "not verified"].map((word) => [found.filter((claim) => statusOf(claim) === word).length, word] as const);
    this.#count.textContent = `${found.length} of ${this.#claims.length} claims: ${tally.filter(([count]) => count > 0).map(([count, word]) => `${count} ${word}`).join(", ")}`;
    this.#name();
  }

  #name(): void {
    const count = this.#wanted().length;
    this.#verify.textContent = this.#chosen.size > 0 ? `Verify ${count} chosen` : `Verify the ${count} shown`;
    this.#verify.disabled = count === 0;
  }

  #row(claim: ClaimRow): HTMLElement {
    const box = h("input", { type: "checkbox", "aria-label": `Choose ${claim.id}`, checked: this.#chosen.has(claim.id), disabled: claim.is_sweep });
    box.addEventListener("change", () => {
      if (box.checked) this.#chosen.add(claim.id);
      else this.#chosen.delete(claim.id);
      this.#name();
    });
    const status = statusOf(claim);
    const details = h(
      "details",
      { "data-claim": claim.id, open: this.#opened.has(claim.id) },
      h("summary", {}, h("b", {}, claim.id), ` ${claim.paper}, ${claim.place} `, h("span", { class: `verdict ${status.replace(" ", "-")}` }, status), h("span", { class: "published" }, claim.published)),
    );
    const open = (): void => {
      if (details.open) {
        this.#opened.add(claim.id);
        if (details.childElementCount === 1) details.append(detail(claim));
      } else {
        this.#opened.delete(claim.id);
      }
    };
    details.addEventListener("toggle", open);
    if (details.open) details.append(detail(claim));
    return h("div", { class: "claim card" }, box, details);
  }

  async #start(): Promise<void> {
    try {
      await api.verify({ claims: this.#wanted(), runs: Number(this.#runs.value) || null });
      fill(this.#said);
    } catch (error) {
      fill(this.#said, failure(message(error)));
    }
  }
}

export async function claimsPage(content: HTMLElement, jobs: Jobs): Promise<void> {
  document.title = "Claims · Weir";
  const claims = new Claims();
  const underway = h("div");
  fill(
    content,
    h("h1", {}, "Claims"),
    h("p", { class: "lead" }, "What papers report, and whether the simulator finds the same. With one seed per cell a verdict is quick and less certain than with the published number of runs."),
    underway,
    claims.element,
  );
  claims.show(await api.claims());
  let finished: string | null = null;
  jobs.follow((all: JobView[]) => {
    const mine = all.filter((job) => job.kind === "verify");
    fill(underway, ...mine.filter((job) => !isFinished(job) || job.status === "failed").slice(0, 5).map(jobCard));
    const now = mine.filter(isFinished).map((job) => job.id).join();
    if (finished !== null && now !== finished) void api.claims().then((rows) => claims.show(rows));
    finished = now;
  });
}
