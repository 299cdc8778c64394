// Requests to the server.
import type {
  Ask, ClaimRow, Comparisons, Edit, ExperimentPage, ExperimentRow, Facts, JobView, Problem, Ranking, RunPage, RunRow, Start, Verify,
} from "../generated/dashboard";

/** What the server says about a wrong request. */
export class Refused extends Error {
  constructor(readonly problem: Problem) {
    super(problem.message);
  }
}

async function answer(path: string, options?: RequestInit): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(path, options);
  } catch {
    throw new Refused({ message: "The server does not answer. Is 'weir serve' still running?", line: null, key: "" });
  }
  if (response.ok) return response;
  const problem = await response.json().catch(() => ({ message: `The server answered with ${response.status}.`, line: null, key: "" }));
  throw new Refused(problem as Problem);
}

const get = async <T>(path: string): Promise<T> => (await answer(path)).json() as Promise<T>;

async function send<T>(path: string, body: unknown, method = "POST"): Promise<T> {
  const headers = { "Content-Type": "application/json" };
  const response = await answer(path, { method, headers, body: JSON.stringify(body) });
  return response.json() as Promise<T>;
}

/** The answer, or null if there is none yet. */
async function perhaps<T>(path: string, read: (response: Response) => Promise<T>): Promise<T | null> {
  const response = await answer(path);
  return response.status === 204 ? null : read(response);
}

export const api = {
  facts: () => get<Facts>("/api/facts"),
  runs: () => get<RunRow[]>("/api/runs"),
  run: (id: number) => get<RunPage>(`/api/runs/${id}`),
  setTags: (id: number, tags: string[]) => send<null>(`/api/runs/${id}/tags`, tags),
  experiments: () => get<ExperimentRow[]>("/api/experiments"),
  experiment: (query: string) => get<ExperimentPage>(`/api/experiment?${query}`),
  edit: (edit: Edit) => send<ExperimentPage>("/api/edit", edit),
  start: (start: Start) => send<JobView>("/api/jobs", start),
  jobs: () => get<JobView[]>("/api/jobs"),
  job: (id: number) => get<JobView>(`/api/jobs/${id}`),
  cancel: (id: number) => send<JobView>(`/api/jobs/${id}`, null, "DELETE"),
  claims: () => get<ClaimRow[]>("/api/claims"),
  verify: (verify: Verify) => send<JobView>("/api/verify", verify),
  advise: (ask: Ask) => send<JobView>("/api/advise", ask),
  compare: () => send<JobView>("/api/compare", null),
  ranking: (id: number) => perhaps<Ranking>(`/api/jobs/${id}/ranking`, (response) => response.json() as Promise<Ranking>),
  comparisons: (id: number) => perhaps<Comparisons>(`/api/jobs/${id}/comparisons`, (response) => response.json() as Promise<Comparisons>),
  columns: (path: string) => perhaps(path, (response) => response.arrayBuffer()),
};

/** The message of an error. */
export const message = (error: unknown): string => (error instanceof Error ? error.message : String(error));
