// The dashboard: chooses the page by the path.
import { part } from "../dom";
import { message } from "./api";
import { fill } from "./element";
import { Jobs } from "./events";
import { advisePage } from "./pages/advise";
import { claimsPage } from "./pages/claims";
import { comparePage } from "./pages/compare";
import { failure } from "./pages/failure";
import { jobPage } from "./pages/job";
import { newPage } from "./pages/new";
import { packetsPage } from "./pages/packets";
import { runPage } from "./pages/run";
import { runsPage } from "./pages/runs";

const content = part("content", HTMLElement);
const query = new URLSearchParams(location.search);
const jobs = new Jobs();

const pages: Record<string, () => Promise<void>> = {
  "/": () => runsPage(content, jobs),
  "/run": () => runPage(content, query),
  "/new": () => newPage(content, query),
  "/job": () => jobPage(content, jobs, query),
  "/claims": () => claimsPage(content, jobs),
  "/advise": () => advisePage(content, jobs, query),
  "/compare": () => comparePage(content, jobs, query),
  "/packets": () => packetsPage(content, query),
};

for (const link of document.querySelectorAll<HTMLAnchorElement>(".pages a")) {
  if (link.pathname === location.pathname) link.setAttribute("aria-current", "page");
}
document.body.dataset.page = location.pathname;
pages[location.pathname]?.().catch((error: unknown) => fill(content, failure(message(error))));
