// The settings of a manual call: a form, saved in the address of the page.
import type { CallSettings, IceServer, Priority } from "./generated/messages";

/** The fields of the form as text, with their names in the form and in the address. */
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

/** The limits of the maximum bitrate, kbit/s; call.html has the same. */
const MIN_BITRATE = 30;
const MAX_BITRATE = 100_000;

/** The fields in the address; the default for a missing or invalid one. */
export function fromAddress(query: URLSearchParams): Fields {
  const fields = { ...DEFAULTS };
  for (const name of Object.keys(DEFAULTS) as (keyof Fields)[]) {
    const value = query.get(name);
    if (value !== null && (ALLOWED[name]?.test(value) ?? true)) fields[name] = value;
  }
  return fields;
}

/** The fields that differ from the defaults. The password of the relay is not among them. */
export function toAddress(fields: Fields): URLSearchParams {
  const names = Object.keys(DEFAULTS) as (keyof Fields)[];
  return new URLSearchParams(names.filter((name) => fields[name] !== DEFAULTS[name]).map((name) => [name, fields[name]]));
}

/** A room and its key, which the server makes when the room is opened. Who has both can join. */
export interface RoomKey {
  room: string;
  key: string;
}

/** The key of this room; empty if it is not known, as before the room is opened. */
export function keyOf(room: string, known: RoomKey): string {
  return room === known.room ? known.key : "";
}

/** Query and fragment of the address. The fragment is the key; browsers do not send it to the server (RFC 3986 § 3.5). */
export function toLink(fields: Fields, known: RoomKey): string {
  const key = keyOf(fields.room, known);
  return `?${toAddress(fields)}${key && `#${key}`}`;
}

/** The fields during a call: maximum bitrate and priorities from the form, all others as when the room was joined. */
export function inCall(joined: Fields, form: Fields): Fields {
  const { max, priority, audiopriority } = form;
  return { ...joined, max, priority, audiopriority };
}

/** The settings of a call; or an error text for the user. */
export function toSettings(fields: Fields, password: string): CallSettings | string {
  const [width, height] = fields.size.split("x").map(Number);
  const servers = iceServers(fields, password);
  if (typeof servers === "string") return servers;
  const max = fields.max === "" ? null : Number(fields.max);
  if (max !== null && !(Number.isInteger(max) && max >= MIN_BITRATE && max <= MAX_BITRATE)) {
    return `The maximum bitrate must be a whole number from ${MIN_BITRATE} to ${MAX_BITRATE} kbit/s, or empty for no limit.`;
  }
  if (isBrokered(fields) && !ALLOWED.region?.test(fields.region)) {
    return "The region is not valid. Use at most 64 letters, digits and the characters . - _ @, or leave it empty.";
  }
  const relay = fields.relay !== "0";
  if (relay && !isBrokered(fields) && servers.length === 0) return "A relayed call needs the address of a TURN server. Enter it under Path.";
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
    ims: null,
  };
}

/** Whether the broker chooses the relay. */
export function isBrokered(fields: Fields): boolean {
  return fields.relay === "basic" || fields.relay === "specialised";
}

/** The priority; `high` in a specialised session, whatever the user chose. */
function priority(fields: Fields, chosen: string): Priority | null {
  return fields.relay === "specialised" ? "high" : ((chosen || null) as Priority | null);
}

function iceServers(fields: Fields, password: string): IceServer[] | string {
  const url = fields.ice.trim();
  if (url === "" || isBrokered(fields)) return [];
  if (!/^(stun|stuns|turn|turns):[^\s/]+$/.test(url)) {
    return "The address of the ICE server is not valid. Use for example turn:192.0.2.1:3478 or stun:stun.example.org.";
  }
  if (url.startsWith("stun")) return [{ urls: [url] }];
  if (!fields.iceuser || !password) return "A TURN server needs a user name and a password. Enter both under Path.";
  return [{ urls: [url], username: fields.iceuser, credential: password }];
}
