// The settings of a call by hand: a form, remembered in the page's address.
import type { CallSettings, IceServer, Priority } from "./generated/messages";

/** The fields as text, by the names that they have in the form and in the address. */
export interface Fields {
  room: string;
  source: string;
  audio: string;
  video: string;
  size: string;
  fps: string;
  codec: string;
  max: string;
  priority: string;
  audiopriority: string;
  relay: string;
  region: string;
  ice: string;
  iceuser: string;
}

export const DEFAULTS: Fields = {
  room: "",
  source: "devices",
  audio: "1",
  video: "1",
  size: "640x360",
  fps: "30",
  codec: "",
  max: "",
  priority: "",
  audiopriority: "",
  relay: "0",
  region: "",
  ice: "",
  iceuser: "",
};

const ALLOWED: Partial<Record<keyof Fields, RegExp>> = {
  source: /^(devices|film)$/,
  audio: /^[01]$/,
  video: /^[01]$/,
  size: /^(320x180|640x360|960x540|1280x720|1920x1080)$/,
  fps: /^(10|15|24|30|60)$/,
  codec: /^(|vp8|vp9|h264|av1)$/,
  max: /^\d{0,6}$/,
  priority: /^(|very-low|low|medium|high)$/,
  audiopriority: /^(|very-low|low|medium|high)$/,
  relay: /^([01]|basic|specialised)$/,
  region: /^[A-Za-z0-9._@-]{0,64}$/,
};

/** The caps that may be asked for, kbit/s; call.html says so too. */
const LEAST = 30;
const MOST = 100_000;

/** What the address says; the default for what it says wrongly. */
export function fromAddress(query: URLSearchParams): Fields {
  const fields = { ...DEFAULTS };
  for (const name of Object.keys(DEFAULTS) as (keyof Fields)[]) {
    const value = query.get(name);
    if (value !== null && (ALLOWED[name]?.test(value) ?? true)) fields[name] = value;
  }
  return fields;
}

/** What differs from the defaults. The relay's password is no field: it stays out of the address. */
export function toAddress(fields: Fields): URLSearchParams {
  const names = Object.keys(DEFAULTS) as (keyof Fields)[];
  return new URLSearchParams(names.filter((name) => fields[name] !== DEFAULTS[name]).map((name) => [name, fields[name]]));
}

/** The fields while a call goes on: rate and priorities are the form's, the rest, its path first of all, is what it was joined with. */
export function inCall(joined: Fields, form: Fields): Fields {
  const { max, priority, audiopriority } = form;
  return { ...joined, max, priority, audiopriority };
}

/** Settings of a call, and what is wrong with the fields, for people. */
export function toSettings(fields: Fields, password: string): CallSettings | string {
  const [width, height] = fields.size.split("x").map(Number);
  const servers = iceServers(fields, password);
  if (typeof servers === "string") return servers;
  const max = fields.max === "" ? null : Number(fields.max);
  if (max !== null && !(Number.isInteger(max) && max >= LEAST && max <= MOST)) {
    return `The most that is sent is a whole number of kbit/s from ${LEAST} to ${MOST}, or nothing for no limit.`;
  }
  if (isBrokered(fields) && !ALLOWED.region?.test(fields.region)) {
    return "A region has at most 64 letters, digits and the signs . - _ @; leave it empty if there is none.";
  }
  const relay = fields.relay !== "0";
  if (relay && !isBrokered(fields) && servers.length === 0) return "A relayed call needs the address of a TURN server.";
  return {
    sends: true,
    audio: fields.audio === "1",
    video:
      fields.video === "1"
        ? {
            width: width ?? 640,
            height: height ?? 360,
            frameRate: Number(fields.fps),
            codec: fields.codec || null,
            maxBitrate: max && max * 1000,
            priority: priority(fields, fields.priority),
          }
        : null,
    audioPriority: priority(fields, fields.audiopriority),
    source: fields.source === "film" ? "film" : "devices",
    iceServers: servers,
    relay,
    render: true,
    statsInterval: 0,
  };
}

/** Whether the broker is to choose the relay. */
export function isBrokered(fields: Fields): boolean {
  return fields.relay === "basic" || fields.relay === "specialised";
}

/** A specialised session is marked, whatever is chosen. */
function priority(fields: Fields, chosen: string): Priority | null {
  return fields.relay === "specialised" ? "high" : ((chosen || null) as Priority | null);
}

function iceServers(fields: Fields, password: string): IceServer[] | string {
  const url = fields.ice.trim();
  if (url === "" || isBrokered(fields)) return [];
  if (!/^(stun|stuns|turn|turns):[^\s/]+$/.test(url)) {
    return "The ICE server's address looks like turn:192.0.2.1:3478 or stun:stun.example.org.";
  }
  if (url.startsWith("stun")) return [{ urls: [url] }];
  if (!fields.iceuser || !password) return "A TURN server needs a user name and a password.";
  return [{ urls: [url], username: fields.iceuser, credential: password }];
}
