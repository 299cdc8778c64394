// Relays for manual calls, from the broker of the server that serves this page.
import type { IceServer } from "./generated/messages";

/** The name of the page as a service in the broker's file. */
const SERVICE = "weir-page";

/** A relay with credentials for a limited time. */
export interface Session {
  id: string;
  iceServers: IceServer[];
}

/** A request for a relay. */
export interface SessionRequest {
  /** The user, to whom the credentials are bound. */
  user: string;
  /** The region of the user, as named in the distances of the relays; empty if unknown. */
  region: string;
  /** Whether the packets are marked and gateways put them into a separate class. */
  specialised: boolean;
}

/** Requests a relay; gives the session, or an error text for the user. */
export async function openSession({ user, region, specialised }: SessionRequest, send: typeof fetch = fetch): Promise<Session | string> {
  const headers = { "Content-Type": "application/json" };
  const body = JSON.stringify({ service: SERVICE, user, ...(region && { region }), specialised });
  try {
    const answer = await send("/broker/v1/sessions", { method: "POST", headers, body });
    if (answer.status === 404) return "This server has no broker. Start the server with --broker FILE.";
    const content: unknown = await answer.json();
    if (answer.ok && isSession(content)) return content;
    return `The broker gave no relay: ${detailOf(content) ?? `status ${answer.status}`}.`;
  } catch {
    return "The broker does not answer.";
  }
}

/** Closes a session, also while the page is unloaded. A session that is not closed expires. */
export function closeSession(session: Session): void {
  void fetch(`/broker/v1/sessions/${session.id}`, { method: "DELETE", keepalive: true }).catch(() => undefined);
}

function isSession(body: unknown): body is Session {
  if (typeof body !== "object" || body === null) return false;
  const { id, iceServers } = body as Partial<Session>;
  return typeof id === "string" && /^[0-9a-f]+$/.test(id) && Array.isArray(iceServers);
}

function detailOf(body: unknown): string | null {
  if (typeof body !== "object" || body === null || !("detail" in body)) return null;
  return typeof body.detail === "string" ? body.detail : null;
}
