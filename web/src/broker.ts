// The relay of a call by hand, from the broker of the server that the page is from.
import type { IceServer } from "./generated/messages";

/** The page as a service, by the name that the broker's file has. */
const SERVICE = "weir-page";

/** A relay that may be used for a while. */
export interface Session {
  id: string;
  iceServers: IceServer[];
}

/** Whom a relay is for. */
export interface Need {
  /** To whom the credentials are bound. */
  user: string;
  /** Where that is, by a name that the relays' distances have; empty if it is not known. */
  region: string;
  specialised: boolean;
}

/** Asks for a relay; or what is wrong, for people. */
export async function openSession({ user, region, specialised }: Need, ask: typeof fetch = fetch): Promise<Session | string> {
  const headers = { "Content-Type": "application/json" };
  const body = JSON.stringify({ service: SERVICE, user, ...(region && { region }), specialised });
  try {
    const answer = await ask("/broker/v1/sessions", { method: "POST", headers, body });
    if (answer.status === 404) return "This server has no broker: it is started with --broker FILE.";
    const said: unknown = await answer.json();
    if (answer.ok && isSession(said)) return said;
    return `The broker gives no relay: ${detailOf(said) ?? `status ${answer.status}`}.`;
  } catch {
    return "The broker does not answer.";
  }
}

/** Gives a relay back, also while the page goes. One that is not given back expires. */
export function closeSession(session: Session): void {
  void fetch(`/broker/v1/sessions/${session.id}`, { method: "DELETE", keepalive: true }).catch(() => undefined);
}

function isSession(said: unknown): said is Session {
  if (typeof said !== "object" || said === null) return false;
  const { id, iceServers } = said as Partial<Session>;
  return typeof id === "string" && /^[0-9a-f]+$/.test(id) && Array.isArray(iceServers);
}

function detailOf(said: unknown): string | null {
  if (typeof said !== "object" || said === null || !("detail" in said)) return null;
  return typeof said.detail === "string" ? said.detail : null;
}
