// A manual call: the form, the controls of the call, and the panel.
import { closeSession, openSession, type Session } from "./broker";
import { Call } from "./call";
import { part } from "./dom";
import type { CallSettings, ToPage } from "./generated/messages";
import { acquire, type Media } from "./media";
import { Panel } from "./panel";
import { isRoomName } from "./parse";
import { DEFAULTS, fromAddress, inCall, isBrokered, keyOf, toLink, toSettings, type Fields, type RoomKey } from "./settings";
import { Signalling } from "./signalling";
import { mediaErrorText, messageOf, stateText } from "./texts";
import type { Screen } from "./measured";

/** The interval between two reports for the panel, milliseconds. */
const PANEL_INTERVAL = 1000;
const ALONE = "Nobody else is in the room. Send the link to the other participant, or open it in a second tab.";

export class ManualCall {
  #form = part("settings", HTMLFormElement);
  #panel = new Panel(part("panel", HTMLElement));
  #media: Media | null = null;
  #signalling: Signalling | null = null;
  #call: Call | null = null;
  /** The room of the address or the room that was joined last, with its key. */
  #known: RoomKey;
  /** The form when the room was joined; null in the lobby. */
  #joined: Fields | null = null;
  /** The settings of the call; null until the room is joined. */
  #settings: CallSettings | null = null;
  /** The user name at the broker, so that the two participants of a room are two users. */
  readonly #user = crypto.randomUUID();
  /** The session of the broker, if it chose the relay. */
  #session: Session | null = null;
  /** The connection to the server is lost during a call; the call continues without it. */
  #serverLost = false;
  /** The other page has lost its connection to the server; an established call continues. */
  #peerLeft = false;

  /** `key` is the key of the room in the address; empty if the address has none. */
  constructor(
    private readonly screen: Screen,
    key: string,
  ) {
    const fields = fromAddress(new URLSearchParams(location.search));
    this.#known = { room: fields.room, key };
    fill(this.#form, fields);
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      void this.#join();
    });
    this.#form.addEventListener("change", () => this.#changed());
    part("hang-up", HTMLButtonElement).addEventListener("click", () => this.#leave("You hung up."));
    this.#toggle("mute", "audio");
    this.#toggle("stop-video", "video");
    part("copy", HTMLButtonElement).addEventListener("click", () => void this.#copy());
    addEventListener("pagehide", () => {
      this.#signalling?.send({ type: "bye" });
      this.#closeSession();
    });
    setInterval(() => void this.#report(), PANEL_INTERVAL);
    this.#changed();
    this.#showView("lobby");
  }

  #fields(): Fields {
    const fields = { ...DEFAULTS };
    for (const name of Object.keys(DEFAULTS) as (keyof Fields)[]) {
      // FormData would omit disabled fields.
      const field = this.#form.elements.namedItem(name);
      if (field instanceof HTMLInputElement && field.type === "checkbox") fields[name] = field.checked ? "1" : "0";
      else if (field instanceof RadioNodeList || field instanceof HTMLInputElement || field instanceof HTMLSelectElement) fields[name] = field.value.trim();
    }
    return this.#joined ? inCall(this.#joined, fields) : fields;
  }

  /** Updates the address and the form, and applies a changed maximum bitrate or priority to the call. */
  #changed(): void {
    const fields = this.#fields();
    this.#showAddress(fields);
    part("region-field", HTMLLabelElement).hidden = !isBrokered(fields);
    this.#disableFields(fields);
    if (!this.#settings) return;
    const settings = toSettings(fields, part("icepassword", HTMLInputElement).value);
    if (typeof settings === "string") return this.screen.status(settings, true);
    this.#settings = { ...settings, iceServers: this.#settings.iceServers };
    if (!this.#call) return this.screen.status(ALONE);
    this.#call.reconfigure(this.#settings);
    this.#state(this.#call.state);
  }

  /** Shows the address of the page, and the link for the other participant. */
  #showAddress(fields: Fields): void {
    history.replaceState(null, "", toLink(fields, this.#known));
    const link = part("room-link", HTMLAnchorElement);
    link.href = link.textContent = this.#link(fields);
  }

  /** The link for the other participant, who may be in another region. */
  #link(fields: Fields): string {
    return `${location.origin}/call${toLink({ ...fields, region: DEFAULTS.region }, this.#known)}`;
  }

  /**
   * Disables fields: all of them while joining, the fixed ones during a call, and those of the video
   * if no video is sent.
   */
  #disableFields(fields: Fields): void {
    for (const fieldset of this.#form.querySelectorAll("fieldset")) {
      const isFixed = this.#joined !== null && (this.#settings === null || fieldset.hasAttribute("data-fixed"));
      fieldset.disabled = isFixed || (fieldset.id === "video-fields" && fields.video === "0");
    }
  }

  async #join(): Promise<void> {
    const fields = this.#fields();
    const settings = toSettings(fields, part("icepassword", HTMLInputElement).value);
    const room = part("room", HTMLInputElement);
    room.setAttribute("aria-invalid", String(!isRoomName(fields.room)));
    if (!isRoomName(fields.room)) {
      room.focus();
      return this.screen.status("Enter a room name: a to z, 0 to 9 and '-', at most 64 characters.", true);
    }
    if (typeof settings === "string") return this.screen.status(settings, true);
    this.screen.status(settings.source === "film" ? "Opening the film…" : "Requesting camera and microphone…");
    const join = part("join", HTMLButtonElement);
    join.disabled = true;
    this.#joined = fields;
    this.#disableFields(fields);
    const ready = await this.#prepare(fields, settings);
    join.disabled = false;
    if (typeof ready === "string") return this.#leave(ready, true);
    this.#media = ready;
    this.#settings = settings;
    this.screen.local(ready.stream);
    this.#showView("call");
    this.screen.status("Joining the room…");
    for (const id of ["room-name", "room-title-name"]) part(id, HTMLElement).textContent = fields.room;
    const hello = () => {
      const key = keyOf(fields.room, this.#known);
      return { type: "hello" as const, ...(key && { key }) };
    };
    this.#signalling = new Signalling(fields.room, hello, true, {
      message: (message) => this.#take(message),
      lost: () => {
        this.#serverLost = this.#call !== null;
        this.screen.status(`The connection to the server is lost. Reconnecting…${this.#serverLost ? " The call continues." : ""}`, true);
      },
    });
    part("mute", HTMLButtonElement).focus();
  }

  /** Gets the relay and the media; or an error text for the user. */
  async #prepare(fields: Fields, settings: CallSettings): Promise<Media | string> {
    try {
      return (await this.#requestRelay(fields, settings)) ?? (await acquire(settings, false));
    } catch (error) {
      return mediaErrorText(error);
    }
  }

  /** Requests a relay from the broker if the user chose that; gives an error text for the user. */
  async #requestRelay(fields: Fields, settings: CallSettings): Promise<string | null> {
    if (!isBrokered(fields)) return null;
    const session = await openSession({ user: this.#user, region: fields.region, specialised: fields.relay === "specialised" });
    if (typeof session === "string") return session;
    this.#session = session;
    settings.iceServers = session.iceServers;
    return null;
  }

  #closeSession(): void {
    if (this.#session) closeSession(this.#session);
    this.#session = null;
  }

  #take(message: ToPage): void {
    switch (message.type) {
      case "welcome":
        if (this.#serverLost && this.#call) this.#drop();
        this.#serverLost = false;
        this.#opened(message.key);
        this.screen.status(message.peer ? "Calling…" : ALONE);
        break;
      case "peer-joined":
        this.#begin(true).offer();
        break;
      case "offer":
        // An offer during a call restarts ICE.
        (this.#call ?? this.#begin(false)).take(message);
        break;
      case "answer":
      case "candidate":
        this.#call?.take(message);
        break;
      case "peer-left":
        this.#peerLeft = true;
        if (!["connected", "disconnected"].includes(this.#call?.state ?? "")) this.#peerGone();
        break;
      case "bye":
        this.#peerGone();
        break;
      case "error":
        // The server refused to reconnect; the call does not need the server.
        if (this.#serverLost && this.#call) this.screen.status(`${message.message} The call continues.`, true);
        else this.#leave(message.message, true);
        break;
      case "start":
      case "stop":
        break;
    }
  }

  /** The server has told the key of the room. */
  #opened(key: string | null): void {
    const fields = this.#fields();
    this.#known = { room: fields.room, key: key ?? "" };
    this.#showAddress(fields);
  }

  #begin(caller: boolean): Call {
    this.#drop();
    this.#peerLeft = false;
    const settings = this.#settings;
    const signalling = this.#signalling;
    if (!settings || !signalling || !this.#media) throw new Error("a call needs a room, its settings and media");
    this.screen.status("Calling…");
    const call = new Call(settings, this.#media.stream, caller, (message) => signalling.send(message), {
      state: (state) => this.#state(state),
      note: (text) => this.#note(text),
      failed: (text) => this.screen.status(text, true),
    });
    this.#call = call;
    this.screen.remote(call.remote, true);
    this.#showWaiting(false);
    return call;
  }

  #state(state: RTCPeerConnectionState): void {
    if (state === "failed" && this.#peerLeft) return this.#peerGone();
    this.screen.status(stateText(state, this.#settings?.relay ?? false), state === "failed");
  }

  #peerGone(): void {
    this.#drop();
    this.screen.status("The other participant has left and can join this room again.");
  }

  /** Ends the call, but stays in the room. */
  #drop(): void {
    this.#call?.close();
    this.#call = null;
    this.#panel.clear();
    part("notes", HTMLUListElement).replaceChildren();
    this.screen.remote(new MediaStream(), true);
    this.#showWaiting(true);
  }

  #leave(text: string, isError = false): void {
    this.#signalling?.send({ type: "bye" });
    this.#signalling?.close();
    this.#signalling = null;
    this.#drop();
    this.#closeSession();
    this.#media?.stop();
    this.#media = null;
    this.#joined = null;
    this.#settings = null;
    this.#showView("lobby");
    this.screen.status(text, isError);
    part("join", HTMLButtonElement).focus();
  }

  #showView(name: "lobby" | "call"): void {
    document.body.dataset.view = name;
    part("controls", HTMLElement).hidden = name === "lobby";
    part("videos", HTMLElement).hidden = name === "lobby";
    part("panel", HTMLElement).hidden = name === "lobby";
    part("room-title", HTMLElement).hidden = name === "lobby";
    part("room-field", HTMLElement).hidden = name === "call";
    part("join", HTMLButtonElement).hidden = name === "call";
    for (const button of ["mute", "stop-video"]) part(button, HTMLButtonElement).setAttribute("aria-pressed", "false");
    this.#disableFields(this.#fields());
    part("later", HTMLElement).hidden = name === "lobby";
    part("options", HTMLDetailsElement).open = name === "lobby";
  }

  #showWaiting(isWaiting: boolean): void {
    part("waiting", HTMLElement).hidden = !isWaiting;
  }

  #toggle(id: string, kind: "audio" | "video"): void {
    const button = part(id, HTMLButtonElement);
    button.addEventListener("click", () => {
      const off = button.getAttribute("aria-pressed") !== "true";
      button.setAttribute("aria-pressed", String(off));
      const tracks = this.#media?.stream.getTracks().filter((track) => track.kind === kind) ?? [];
      tracks.forEach((track) => (track.enabled = !off));
    });
  }

  async #copy(): Promise<void> {
    const link = this.#link(this.#fields());
    try {
      await navigator.clipboard.writeText(link);
      this.#note("Link copied.");
    } catch {
      this.#note(`Copy this link: ${link}`);
    }
  }

  #note(text: string): void {
    const item = document.createElement("li");
    item.textContent = text;
    part("notes", HTMLUListElement).append(item);
  }

  async #report(): Promise<void> {
    const call = this.#call;
    if (!call) return;
    try {
      const report = await call.stats();
      if (call === this.#call) this.#panel.show(report);
    } catch (error) {
      call.note(`No statistics available: ${messageOf(error)}`);
    }
  }
}

function fill(form: HTMLFormElement, fields: Fields): void {
  for (const [name, value] of Object.entries(fields)) {
    const field = form.elements.namedItem(name);
    if (field instanceof HTMLInputElement && field.type === "checkbox") field.checked = value === "1";
    else if (field instanceof RadioNodeList || field instanceof HTMLInputElement || field instanceof HTMLSelectElement) field.value = value;
  }
}
