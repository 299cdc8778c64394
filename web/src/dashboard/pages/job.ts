// One job: how far it is, its run while it goes, and what it has found.
import type { JobView } from "../../generated/dashboard";
import { api, message } from "../api";
import { ChartBox } from "../chart/tools";
import { fill, h } from "../element";
import type { Jobs } from "../events";
import { failure } from "./failure";

const WORDS: Record<JobView["status"], string> = { waiting: "waiting", running: "running", done: "finished", failed: "failed", cancelled: "cancelled" };

export const isFinished = (job: JobView): boolean => job.status !== "waiting" && job.status !== "running";

/** The page that shows what a job has found. */
export const pageOf = (job: JobView): string => {
  const pages = { verify: "/claims", advise: `/advise?job=${job.id}`, compare: `/compare?job=${job.id}`, run: `/job?id=${job.id}` };
  return pages[job.kind];
};

/** A line about a job with a bar, and a button that cancels it. */
export function jobCard(job: JobView): HTMLElement {
  const cancel = h("button", { type: "button", class: "danger", onclick: () => void api.cancel(job.id) }, "Cancel");
  const time = job.end > 0 && job.status === "running" ? `, at ${job.at.toFixed(0)} of ${job.end.toFixed(0)} s` : "";
  const failed = job.failed > 0 ? `, ${job.failed} failed` : "";
  const count = job.total > 0 ? ` ${job.done} of ${job.total} runs${failed}${time}` : time;
  const mode = job.kind === "run" && job.mode !== "simulated" ? ` (${job.mode})` : "";
  return h(
    "div",
    { class: `card job ${job.status}`, "data-job": job.id, "data-status": job.status },
    h("div", { class: "job-line" }, h("a", { href: pageOf(job) }, h("b", {}, job.title)), h("span", { class: "status" }, `${WORDS[job.status]}${mode}`), h("span", { class: "help" }, count), h("span", { class: "gap" }), !isFinished(job) && cancel),
    h("progress", { max: "1", value: String(job.share), "aria-label": `Progress of ${job.title}` }),
    ...job.messages.map((text) => h("p", { class: "error-text" }, text)),
  );
}

/** The chart of the runs of some finished jobs; of the seeds of one cell it is their mean. */
export function resultPath(runs: number[]): string {
  const query = runs.slice(0, 40).map((id) => `run=${id}`).join("&");
  return `/run?${query}`;
}

export async function jobPage(content: HTMLElement, jobs: Jobs, query: URLSearchParams): Promise<void> {
  const ids = query.getAll("id").map(Number);
  const cards = h("div");
  const result = h("div", { class: "tools" });
  const box = new ChartBox(() => void draw());
  const waiting = h("p", { class: "help", id: "waiting" }, "The chart appears with the first samples.");
  fill(content, h("h1", {}, "Run"), cards, result, waiting, box.element);
  box.element.hidden = true;
  document.title = "Run · Weir";
  let isDrawing = false;
  let known: JobView[] = [];
  const draw = async (): Promise<void> => {
    const job = known.find((one) => one.status === "running" && one.kind === "run");
    if (!job || isDrawing) return;
    isDrawing = true;
    try {
      const chart = await box.load(`/api/jobs/${job.id}/chart?`, `job-${job.id}`, Math.min(job.end, job.at * 1.25));
      if (chart) {
        box.element.hidden = false;
        waiting.hidden = true;
        box.element.dataset.at = String(chart.duration);
      }
    } catch (error) {
      waiting.hidden = false;
      waiting.textContent = message(error);
    }
    isDrawing = false;
  };
  const show = (all: JobView[]): void => {
    const mine = all.filter((job) => ids.includes(job.id)).reverse();
    known = mine;
    if (mine.length === 0) {
      fill(cards, failure("This job is not known. Jobs are forgotten when the server ends; finished runs are in the list of runs."));
      waiting.hidden = true;
      return;
    }
    document.title = `${mine[0]?.title ?? "Run"} · Weir`;
    fill(cards, ...mine.map(jobCard));
    const runs = mine.flatMap((job) => job.runs);
    if (mine.every((job) => job.status === "done" && job.kind === "run") && runs.length > 0 && runs.length <= 40) {
      location.replace(resultPath(runs));
      return;
    }
    const isOver = mine.every(isFinished);
    if (isOver && box.element.hidden) waiting.hidden = true;
    fill(
      result,
      runs.length > 0 && h("a", { class: "button primary", href: resultPath(runs) }, runs.length === 1 ? "Open the finished run" : `Open ${Math.min(runs.length, 40)} finished runs`),
      isOver && mine[0] && mine[0].experiment !== "" && h("a", { class: "button", href: `/new?name=${encodeURIComponent(mine[0].experiment)}` }, "Start again"),
    );
    void draw();
  };
  jobs.follow(show);
}
