// Advice: which queue, class or controller helps a call on a network, and what it costs others.
import type { JobView, RankRow, Ranking } from "../../generated/dashboard";
import { api, message } from "../api";
import { type Child, copyButton, fill, h, labelled, select } from "../element";
import type { Jobs } from "../events";
import { failure } from "./failure";
import { isFinished, jobCard } from "./job";

const GOALS: [string, string][] = [["0.8", "the call"], ["0.5", "both alike"], ["0.2", "other traffic"]];

function form(situations: string[]): HTMLFormElement {
  const kind = select([["line", "A line at home"], ["name", "A network of the list"]], "line", { name: "kind", id: "kind" });
  const line = h("input", { name: "line", value: "5Mbit/1Mbit", id: "line" });
  const modem = h("input", { type: "checkbox", name: "modem" });
  const upload = h("input", { type: "checkbox", name: "upload", checked: true });
  const download = h("input", { type: "checkbox", name: "download" });
  const name = select(situations, situations[0] ?? "", { name: "name", id: "situation" });
  const home = h(
    "div",
    { class: "settings-form" },
    labelled("Rates of the line, down/up", line),
    h("label", { class: "check" }, upload, "an upload at the same time"),
    h("label", { class: "check" }, download, "a download at the same time"),
    h("label", { class: "check" }, modem, "a modem behind the router has the line"),
  );
  const listed = h("div", { class: "settings-form", hidden: true }, labelled("Network", name));
  kind.addEventListener("change", () => {
    home.hidden = kind.value !== "line";
    listed.hidden = kind.value === "line";
  });
  const said = h("div", { id: "problem" });
  const result = h(
    "form",
    { class: "card", id: "ask" },
    h("div", { class: "settings-form" }, labelled("Network", kind)),
    home,
    listed,
    h(
      "div",
      { class: "settings-form" },
      labelled("What counts most", select(GOALS, "0.5", { name: "weight" })),
      labelled("Seeds", h("input", { type: "number", name: "runs", value: "3", min: "1", max: "100" }), "more seeds separate remedies that are nearly as good"),
      labelled("Device of the gateway", h("input", { name: "device", value: "eth0", maxlength: "15" })),
    ),
    h("div", { class: "tools" }, h("button", { class: "primary", id: "rank" }, "Rank the remedies")),
    said,
  );
  result.addEventListener("submit", (event) => {
    event.preventDefault();
    const value = (field: string): string => (result.elements.namedItem(field) as HTMLInputElement).value;
    const isLine = kind.value === "line";
    const ask = {
      name: isLine ? null : name.value,
      line: isLine ? line.value : null,
      modem: modem.checked,
      upload: upload.checked,
      download: download.checked,
      weight: Number(value("weight")),
      runs: Number(value("runs")),
      device: value("device"),
    };
    api.advise(ask).then((job) => location.assign(`/advise?job=${job.id}`), (error: unknown) => fill(said, failure(message(error))));
  });
  return result;
}

function detail(row: RankRow): HTMLElement {
  const tc = row.tc === "" ? null : h("div", {}, h("pre", { tabindex: "0" }, row.tc), copyButton(() => row.tc, "Copy the commands"));
  const set = row.set.length === 0 ? null : h("div", {}, h("p", { class: "help" }, "In the file:"), h("pre", { tabindex: "0" }, row.set.map(([key, value]) => `${key} = ${value}`).join("\n")));
  return h("details", {}, h("summary", {}, row.name), h("p", {}, row.about), row.source !== "" && h("p", { class: "help" }, row.source), tc, set);
}

function ranking(shown: Ranking): HTMLElement {
  const heads = ["", "remedy", ...shown.columns].map((text) => h("th", { scope: "col" }, text));
  const rows = shown.rows.map((row, index) => {
    const place: Child = `${index + 1}${row.is_as_good && index > 0 ? " =" : ""}`;
    return h("tr", {}, h("td", {}, place), h("td", {}, detail(row)), ...row.cells.map((cell) => h("td", { class: "number" }, cell)));
  });
  return h(
    "section",
    { class: "card", id: "ranking", "data-rows": shown.rows.length, "data-seen": shown.seeds },
    h("h2", {}, shown.heading),
    shown.verdict !== "" ? h("p", { class: "verdict-line" }, shown.verdict) : h("p", { class: "help" }, `After ${shown.seeds} of ${shown.all_seeds} runs:`),
    h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Ranking" }, h("table", {}, h("thead", {}, h("tr", {}, ...heads)), h("tbody", {}, ...rows))),
    h("p", { class: "help" }, "“=”: the difference from the first is not significant. Open a remedy for its commands."),
    shown.unfit.length > 0 && h("details", {}, h("summary", {}, "Not for this network"), h("ul", {}, ...shown.unfit.map((text) => h("li", {}, text)))),
  );
}

export async function advisePage(content: HTMLElement, jobs: Jobs, query: URLSearchParams): Promise<void> {
  document.title = "Advise · Weir";
  const id = query.get("job");
  const card = h("div");
  const result = h("div");
  const experiments = await api.experiments();
  const fit = experiments.filter((row) => row.is_own || row.name.startsWith("situations/"));
  fill(content, h("h1", {}, "Advise"), h("p", { class: "lead" }, "Which queue, class or controller helps a call, and what it costs other traffic."), form(fit.map((row) => row.name)), card, result);
  if (id === null) return;
  let isAsking = false;
  let last = "";
  jobs.follow((all: JobView[]) => {
    const job = all.find((one) => one.id === Number(id));
    if (!job) {
      fill(card, failure("This ranking is not known. Rankings are forgotten when the server ends."));
      return;
    }
    fill(card, jobCard(job));
    const state = `${job.status} ${job.done}`;
    if (isAsking || (state === last && isFinished(job))) return;
    isAsking = true;
    const done = (): void => {
      isAsking = false;
      last = state;
    };
    api.ranking(job.id).then((found) => {
      const opened = [...result.querySelectorAll("details[open] > summary")].map((one) => one.textContent);
      if (found) fill(result, ranking(found));
      for (const summary of result.querySelectorAll("summary")) if (opened.includes(summary.textContent)) (summary.parentElement as HTMLDetailsElement).open = true;
      done();
      // What came while this was fetched.
      const newest = jobs.all().find((one) => one.id === job.id);
      if (newest && isFinished(newest) && !isFinished(job)) void api.ranking(job.id).then((end) => end && fill(result, ranking(end)));
    }, done);
  });
}
