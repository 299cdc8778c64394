// Stored runs of several sources beside the published results.
import type { Comparisons, JobView, VerdictRow } from "../../generated/dashboard";
import { api, message } from "../api";
import { type Child, fill, h, table } from "../element";
import type { Jobs } from "../events";
import { failure } from "./failure";
import { isFinished, jobCard } from "./job";

function finding(one: VerdictRow | undefined): Child {
  if (!one) return "–";
  return h("span", {}, h("span", { class: `verdict ${one.status.replace(" ", "-")}` }, one.status), ` ${one.measured}`);
}

function tables(found: Comparisons): HTMLElement {
  const who = [...new Set(found.claims.flatMap((claim) => claim.findings.map((one) => one.who)))];
  const claims = found.claims.map((claim) => [
    claim.id,
    `${claim.paper}, ${claim.place}`,
    claim.published,
    ...who.map((name) => finding(claim.findings.find((one) => one.who === name))),
  ]);
  const differences = found.differences.map((one) => [one.experiment, one.cell, one.who, one.stream, one.metric, one.measured, one.simulated, one.difference]);
  return h(
    "div",
    { id: "comparisons" },
    h("section", { class: "card" }, h("h2", {}, "Claims"), claims.length > 0 ? table(["claim", "where", "published", ...who.map((name) => name || "simulator")], claims, "Claims by source") : h("p", {}, "No stored run tests a claim. Run the experiment of a claim, or measure it: sudo weir measure NAME --store FILE.")),
    h("section", { class: "card" }, h("h2", {}, "Browsers and simulator"), differences.length > 0 ? table(["experiment", "cell", "who", "stream", "metric", "measured", "simulated", "difference"], differences, "Differences") : h("p", {}, "No cell was both measured and simulated with today's Chromium. 'weir compare STORE' adds the simulations of measured runs.")),
    found.notes.length > 0 && h("details", { class: "card" }, h("summary", {}, "Left out"), h("ul", {}, ...found.notes.map((note) => h("li", {}, note)))),
  );
}

export async function comparePage(content: HTMLElement, jobs: Jobs, query: URLSearchParams): Promise<void> {
  document.title = "Compare · Weir";
  const card = h("div");
  const result = h("div");
  const begin = async (): Promise<void> => {
    try {
      const job = await api.compare();
      location.replace(`/compare?job=${job.id}`);
    } catch (error) {
      fill(card, failure(message(error)));
    }
  };
  const again = h("button", { type: "button", onclick: () => void begin() }, "Compare again");
  fill(content, h("div", { class: "title-row" }, h("h1", {}, "Compare"), again), h("p", { class: "lead" }, "Published results, browsers of today and the simulator, side by side, from the runs in the store. To see runs on top of each other, choose them in the list of runs."), card, result);
  const id = query.get("job");
  if (id === null) {
    await begin();
    return;
  }
  let isShown = false;
  jobs.follow((all: JobView[]) => {
    const job = all.find((one) => one.id === Number(id));
    if (!job) {
      fill(card, failure("This comparison is not known any more: compare again."));
      return;
    }
    fill(card, isFinished(job) && job.status === "done" ? null : jobCard(job));
    if (!isFinished(job) || isShown) return;
    isShown = true;
    void api.comparisons(job.id).then((found) => found && fill(result, tables(found)));
  });
}
