// One run, or several on top of each other.
import type { RunPage, RunRow } from "../../generated/dashboard";
import { api, message } from "../api";
import { ChartBox } from "../chart/tools";
import { copyButton, fill, h, labelled, save, select, table } from "../element";
import { failure } from "./failure";

const address = (runs: number[], mean: boolean): string => `/run?${runs.map((id) => `run=${id}`).join("&")}${mean ? "&mean=1" : ""}`;

/** Words about a run that tell it from the others. */
const short = (run: RunRow): string => `run ${run.id}${run.cell === "" ? "" : `, ${run.cell}`}, seed ${run.seed}`;

function tagsOf(page: RunPage): HTMLElement {
  const field = h("input", { value: page.run.tags.join(", "), placeholder: "for example: baseline, before the change" });
  const said = h("span", { class: "help", role: "status" });
  const form = h("form", { class: "tools" }, labelled("Tags, with commas", field), h("button", {}, "Save tags"), said);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const tags = field.value.split(",").map((tag) => tag.trim()).filter((tag) => tag !== "");
    api.setTags(page.run.id, tags).then(() => (said.textContent = "Saved."), (error: unknown) => (said.textContent = message(error)));
  });
  return form;
}

function commandOf(page: RunPage): HTMLElement {
  const file = page.file === "" ? null : h("button", { type: "button", onclick: () => save(page.file, new Blob([page.text], { type: "application/toml" })) }, `Save ${page.file}`);
  return h(
    "section",
    { class: "card" },
    h("h2", {}, "Repeat this run"),
    h("pre", { id: "command", tabindex: "0" }, page.command),
    h("div", { class: "tools" }, copyButton(() => page.command, "Copy the command"), file, h("a", { class: "button", href: `/new?run=${page.run.id}` }, "Run it with other settings")),
  );
}

/** The other runs of the experiment, to be drawn on top of this one. */
function siblingsOf(runs: number[], page: RunPage, isMean: boolean): HTMLElement {
  const others = page.siblings.filter((run) => !runs.includes(run.id));
  const choice = select([["", "Choose a run …"], ...others.map((run): [string, string] => [String(run.id), short(run)])], "", { id: "compare" });
  choice.addEventListener("change", () => {
    if (choice.value !== "") location.assign(address([...runs, Number(choice.value)], isMean));
  });
  const seeds = [page.run, ...page.siblings].filter((run) => run.cell === page.run.cell && run.mode === page.run.mode).map((run) => run.id);
  const any = h("input", { type: "number", min: "1", placeholder: "number", "aria-label": "Number of a run" });
  const add = h("form", { class: "tools" }, labelled("or any run by its number", any), h("button", {}, "Add"));
  add.addEventListener("submit", (event) => {
    event.preventDefault();
    if (any.value !== "") location.assign(address([...runs, Number(any.value)], isMean));
  });
  return h(
    "section",
    { class: "card" },
    h("h2", {}, "Compare"),
    others.length > 0 ? labelled("With another run of this experiment", choice) : null,
    add,
    h(
      "div",
      { class: "tools" },
      seeds.length > 1 && h("a", { class: "button", href: address(seeds.slice(0, 40).sort((a, b) => a - b), true) }, `Mean of ${Math.min(seeds.length, 40)} seeds`),
      runs.length > 1 && h("a", { class: "button", href: address(runs, !isMean) }, isMean ? "Show the single runs" : "Show their mean"),
      runs.length > 1 && h("a", { class: "button", href: address(runs.slice(0, 1), false) }, "Only the first"),
    ),
  );
}

function factsOf(page: RunPage): HTMLElement {
  const { run } = page;
  const rows: [string, string][] = [["experiment", run.experiment], ["cell", run.cell], ["seed", run.seed], ["mode", run.mode], ["length", `${run.duration} s`], ["Weir", run.version], ...page.notes];
  const shown = rows.filter(([, value]) => value !== "");
  return h(
    "section",
    { class: "card" },
    h("h2", {}, "Facts"),
    h("dl", {}, ...shown.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value)))),
  );
}

function metricsOf(pages: RunPage[]): HTMLElement | null {
  const [first] = pages;
  if (!first || first.metrics.length === 0) return null;
  const value = (page: RunPage, stream: string, name: string): string => page.metrics.find((one) => one.stream === stream && one.name === name)?.value ?? "–";
  const rows = first.metrics.map(({ stream, name }) => [stream, name, ...pages.map((page) => value(page, stream, name))]);
  const heads = ["stream", "metric", ...pages.map((page) => (pages.length > 1 ? short(page.run) : "value"))];
  return h("details", { class: "card" }, h("summary", {}, "Metrics"), table(heads, rows, "Metrics"));
}

function eventsOf(box: ChartBox): HTMLElement | null {
  const events = box.view.chart?.events ?? [];
  if (events.length === 0) return null;
  const rows = events.slice(0, 500).map((event) => [`${event.at.toFixed(2)} s`, event.stream, event.what, event.value.toPrecision(3)]);
  return h("details", { class: "card" }, h("summary", {}, `Events (${events.length})`), table(["time", "stream", "event", "value"], rows, "Events"));
}

export async function runPage(content: HTMLElement, query: URLSearchParams): Promise<void> {
  const runs = [...new Set(query.getAll("run").map(Number))];
  const isMean = query.get("mean") === "1" && runs.length > 1;
  const path = `/api/chart?${runs.map((id) => `run=${id}`).join("&")}${isMean ? "&mean=1" : ""}`;
  const name = runs.length === 1 ? `run-${runs[0]}` : `runs-${runs.join("-")}`;
  const load = (): void => void box.load(path, name).catch((error: unknown) => content.prepend(failure(message(error))));
  const box = new ChartBox(load);
  const heading = h("h1", {}, "Run");
  const below = h("div", { class: "below" });
  fill(content, heading, box.element, below);
  // The chart first: what people look at must not wait for tables.
  await box.load(path, name);
  document.body.dataset.drawn = "1";
  const pages = await Promise.all(runs.slice(0, 12).map((id) => api.run(id)));
  const [first] = pages;
  if (!first) return;
  const title = first.title === "" ? first.run.experiment : first.title;
  fill(heading, runs.length === 1 ? `${title}` : `${runs.length} runs: ${title}`);
  document.title = `${title} · Weir`;
  const packets = runs.map((id) => h("a", { class: "button", href: `/packets?run=${id}` }, runs.length === 1 ? "Packets" : `Packets of run ${id}`));
  const csv = h("a", { class: "button", href: `/api/csv?${runs.map((id) => `run=${id}`).join("&")}`, download: `${name}.csv` }, "All samples as CSV");
  fill(
    below,
    h("div", { class: "tools" }, ...(first.run.mode === "simulated" ? packets.slice(0, 4) : []), csv),
    eventsOf(box),
    h("div", { class: "columns" }, siblingsOf(runs, first, isMean), runs.length === 1 ? commandOf(first) : null, factsOf(first)),
    runs.length === 1 ? h("section", { class: "card" }, h("h2", {}, "Tags"), tagsOf(first)) : null,
    metricsOf(pages),
    h("details", { class: "card" }, h("summary", {}, "Experiment file"), h("pre", { tabindex: "0" }, first.text)),
  );
}
