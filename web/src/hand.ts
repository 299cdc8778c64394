// A call by hand: the form, the call's controls, the panel.
import { closeSession, openSession, type Session } from "./broker";
import { Call } from "./call";
import { part } from "./dom";
import type { CallSettings, ToPage } from "./generated/messages";
import { acquire, type Media } from "./media";
import { Panel } from "./panel";
import { isRoomName } from "./parse";
import { DEFAULTS, fromAddress, inCall, isBrokered, toAddress, toSettings, type Fields } from "./settings";
import { Signalling } from "./signalling";
import { deviceWords, messageOf, stateWords } from "./words";
import type { Screen } from "./measured";

/** Milliseconds between two reports for the panel. */
const PANEL_INTERVAL = 1000;
const ALONE = "You are alone here. Send the other the link, or open it in a second tab.";

export class HandCall {
  #form = part("settings", HTMLFormElement);
  #panel = new Panel(part("panel", HTMLElement));
  #media: Media | null = null;
  #signalling: Signalling | null = null;
  #call: Call | null = null;
  /** What the room was entered with; null in the lobby. */
  #joined: Fields | null = null;
  /** The call's; null until the room is entered. */
  #settings: CallSettings | null = null;
  /** Who asks the broker, so that the two ends of a room are two users. */
  readonly #user = crypto.randomUUID();
  /** The relay that the broker has given. */
  #session: Session | null = null;
  /** The server is gone and the call, which does not need it, goes on. */
  #alone = false;
  /** The other end's page is gone; a call that stands may yet outlast that. */
  #left = false;

  constructor(private readonly screen: Screen) {
    fill(this.#form, fromAddress(new URLSearchParams(location.search)));
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      void this.#join();
    });
    this.#form.addEventListener("change", () => this.#changed());
    part("hang-up", HTMLButtonElement).addEventListener("click", () => this.#leave("You have hung up."));
    this.#toggle("mute", "audio");
    this.#toggle("blind", "video");
    part("copy", HTMLButtonElement).addEventListener("click", () => void this.#copy());
    addEventListener("pagehide", () => {
      this.#signalling?.send({ type: "bye" });
      this.#giveBack();
    });
    setInterval(() => void this.#report(), PANEL_INTERVAL);
    this.#changed();
    this.#stage("lobby");
  }

  #fields(): Fields {
    const fields = { ...DEFAULTS };
    for (const name of Object.keys(DEFAULTS) as (keyof Fields)[]) {
      // Not by FormData, which leaves out what is disabled.
      const field = this.#form.elements.namedItem(name);
      if (field instanceof HTMLInputElement && field.type === "checkbox") fields[name] = field.checked ? "1" : "0";
      else if (field instanceof RadioNodeList || field instanceof HTMLInputElement || field instanceof HTMLSelectElement) fields[name] = field.value.trim();
    }
    return this.#joined ? inCall(this.#joined, fields) : fields;
  }

  /** Keeps the address and the form true, and gives a call the caps and priorities that have changed. */
  #changed(): void {
    const fields = this.#fields();
    history.replaceState(null, "", `?${toAddress(fields)}`);
    part("region-field", HTMLLabelElement).hidden = !isBrokered(fields);
    this.#freeze(fields);
    if (!this.#settings) return;
    const settings = toSettings(fields, part("icepassword", HTMLInputElement).value);
    if (typeof settings === "string") return this.screen.status(settings, true);
    this.#settings = { ...settings, iceServers: this.#settings.iceServers };
    if (!this.#call) return this.screen.status(ALONE);
    this.#call.reconfigure(this.#settings);
    this.#state(this.#call.state);
  }

  /** While it joins nothing can be changed, in the room what is not fixed; the picture's fields only if there is a picture. */
  #freeze(fields: Fields): void {
    for (const fieldset of this.#form.querySelectorAll("fieldset")) {
      const frozen = this.#joined !== null && (this.#settings === null || fieldset.hasAttribute("data-fixed"));
      fieldset.disabled = frozen || (fieldset.id === "picture" && fields.video === "0");
    }
  }

  async #join(): Promise<void> {
    const fields = this.#fields();
    const settings = toSettings(fields, part("icepassword", HTMLInputElement).value);
    const room = part("room", HTMLInputElement);
    room.setAttribute("aria-invalid", String(!isRoomName(fields.room)));
    if (!isRoomName(fields.room)) {
      room.focus();
      return this.screen.status("Name a room: a to z, 0 to 9 and '-', at most 64 characters.", true);
    }
    if (typeof settings === "string") return this.screen.status(settings, true);
    this.screen.status(settings.source === "film" ? "Opening the film…" : "Asking for camera and microphone…");
    const join = part("join", HTMLButtonElement);
    join.disabled = true;
    this.#joined = fields;
    this.#freeze(fields);
    const ready = await this.#prepare(fields, settings);
    join.disabled = false;
    if (typeof ready === "string") return this.#leave(ready, true);
    this.#media = ready;
    this.#settings = settings;
    this.screen.local(ready.stream);
    this.#stage("call");
    this.screen.status("Entering the room…");
    for (const id of ["room-name", "place-name"]) part(id, HTMLElement).textContent = fields.room;
    this.#signalling = new Signalling(fields.room, { type: "hello" }, true, {
      message: (message) => this.#take(message),
      broken: () => {
        this.#alone = this.#call !== null;
        this.screen.status(`The server is gone; trying again… ${this.#alone ? "The call itself goes on." : ""}`, true);
      },
    });
    part("mute", HTMLButtonElement).focus();
  }

  /** Gets the relay, sound and picture; or what is wrong, for people. */
  async #prepare(fields: Fields, settings: CallSettings): Promise<Media | string> {
    try {
      return (await this.#relay(fields, settings)) ?? (await acquire(settings, false));
    } catch (error) {
      return deviceWords(error);
    }
  }

  /** Lets the broker choose the relay, if it is to; gives what is wrong, for people. */
  async #relay(fields: Fields, settings: CallSettings): Promise<string | null> {
    if (!isBrokered(fields)) return null;
    const session = await openSession({ user: this.#user, region: fields.region, specialised: fields.relay === "specialised" });
    if (typeof session === "string") return session;
    this.#session = session;
    settings.iceServers = session.iceServers;
    return null;
  }

  #giveBack(): void {
    if (this.#session) closeSession(this.#session);
    this.#session = null;
  }

  #take(message: ToPage): void {
    switch (message.type) {
      case "welcome":
        if (this.#alone && this.#call) this.#drop();
        this.#alone = false;
        this.screen.status(message.peer ? "Calling…" : ALONE);
        break;
      case "peer-joined":
        this.#begin(true).offer();
        break;
      case "offer":
        // An offer within a call only renews its path.
        (this.#call ?? this.#begin(false)).take(message);
        break;
      case "answer":
      case "candidate":
        this.#call?.take(message);
        break;
      case "peer-left":
        this.#left = true;
        if (!["connected", "disconnected"].includes(this.#call?.state ?? "")) this.#gone();
        break;
      case "bye":
        this.#gone();
        break;
      case "error":
        // Turned away while it comes back: the call needs no server.
        if (this.#alone && this.#call) this.screen.status(`${message.message} The call itself goes on.`, true);
        else this.#leave(message.message, true);
        break;
      case "start":
      case "stop":
        break;
    }
  }

  #begin(caller: boolean): Call {
    this.#drop();
    this.#left = false;
    const settings = this.#settings;
    const signalling = this.#signalling;
    if (!settings || !signalling || !this.#media) throw new Error("a call begins in a room");
    this.screen.status("Calling…");
    const call = new Call(settings, this.#media.stream, caller, (message) => signalling.send(message), {
      state: (state) => this.#state(state),
      note: (text) => this.#note(text),
      failed: (text) => this.screen.status(text, true),
    });
    this.#call = call;
    this.screen.remote(call.remote, true);
    this.#empty(false);
    return call;
  }

  #state(state: RTCPeerConnectionState): void {
    if (state === "failed" && this.#left) return this.#gone();
    this.screen.status(stateWords(state, this.#settings?.relay ?? false), state === "failed");
  }

  #gone(): void {
    this.#drop();
    this.screen.status("The other has left. They can come back to this room.");
  }

  /** Ends the call and stays in the room. */
  #drop(): void {
    this.#call?.close();
    this.#call = null;
    this.#panel.clear();
    part("notes", HTMLUListElement).replaceChildren();
    this.screen.remote(new MediaStream(), true);
    this.#empty(true);
  }

  #leave(words: string, wrong = false): void {
    this.#signalling?.send({ type: "bye" });
    this.#signalling?.close();
    this.#signalling = null;
    this.#drop();
    this.#giveBack();
    this.#media?.stop();
    this.#media = null;
    this.#joined = null;
    this.#settings = null;
    this.#stage("lobby");
    this.screen.status(words, wrong);
    part("join", HTMLButtonElement).focus();
  }

  #stage(name: "lobby" | "call"): void {
    document.body.dataset.stage = name;
    part("controls", HTMLElement).hidden = name === "lobby";
    part("stage", HTMLElement).hidden = name === "lobby";
    part("panel", HTMLElement).hidden = name === "lobby";
    part("place", HTMLElement).hidden = name === "lobby";
    part("room-field", HTMLElement).hidden = name === "call";
    part("join", HTMLButtonElement).hidden = name === "call";
    for (const button of ["mute", "blind"]) part(button, HTMLButtonElement).setAttribute("aria-pressed", "false");
    this.#freeze(this.#fields());
    part("later", HTMLElement).hidden = name === "lobby";
    part("options", HTMLDetailsElement).open = name === "lobby";
  }

  #empty(empty: boolean): void {
    part("waiting", HTMLElement).hidden = !empty;
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
    // The other may be in another region.
    const link = `${location.origin}/call?${toAddress({ ...this.#fields(), region: DEFAULTS.region })}`;
    try {
      await navigator.clipboard.writeText(link);
      this.#note("The link is copied.");
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
      call.note(`No statistics: ${messageOf(error)}`);
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
