// One call: an RTCPeerConnection. The participant that joined the room first sends the offer, so that
// two offers never cross.
import type { CallSettings, FromPage, StatsReport, ToPage } from "./generated/messages";
import { configure, preferCodec } from "./senders";
import { nameOf } from "./texts";

export interface CallListener {
  /** Called with each new `connectionState`. */
  state(state: RTCPeerConnectionState): void;
  /** Called with each note, for example about a setting that this browser does not support. */
  note(text: string): void;
  /** Called if the call cannot be established. */
  failed(text: string): void;
}

/** A call whose session descriptions take any way: through the room, or through an IMS. */
export interface AnyCall {
  /** The received media. */
  readonly remote: MediaStream;
  /** Calls the other participant. */
  offer(): void;
  /** Handles a message of the other participant. */
  take(message: ToPage & { type: "offer" | "answer" | "candidate" }): void;
  /** All members of all objects of `getStats`; null before there is a connection. */
  stats(): Promise<StatsReport | null>;
  /** Hangs up. */
  close(): void | Promise<void>;
}

/** The statistics of a connection. */
export async function statsOf(connection: RTCPeerConnection): Promise<StatsReport> {
  const at = performance.timeOrigin + performance.now();
  const report = await connection.getStats();
  const stats: StatsReport["stats"] = {};
  report.forEach((value: { id: string }) => (stats[value.id] = { ...value }));
  return { at, stats };
}

export class Call implements AnyCall {
  /** The received media. */
  readonly remote = new MediaStream();
  readonly #connection: RTCPeerConnection;
  #work: Promise<void> = Promise.resolve();
  readonly #notes = new Set<string>();

  constructor(
    private settings: CallSettings,
    private readonly local: MediaStream,
    private readonly caller: boolean,
    private readonly send: (message: FromPage) => void,
    private readonly listener: CallListener,
  ) {
    this.#connection = new RTCPeerConnection({
      iceServers: settings.iceServers,
      iceTransportPolicy: settings.relay ? "relay" : "all",
    });
    this.#listen();
  }

  #listen(): void {
    const connection = this.#connection;
    connection.ontrack = ({ track }) => this.remote.addTrack(track);
    connection.onicecandidate = ({ candidate }) => {
      if (!candidate) return;
      const { candidate: line, sdpMid, sdpMLineIndex, usernameFragment } = candidate.toJSON();
      this.send({
        type: "candidate",
        candidate: {
          candidate: line ?? "",
          sdpMid: sdpMid ?? null,
          sdpMLineIndex: sdpMLineIndex ?? null,
          usernameFragment: usernameFragment ?? null,
        },
      });
    };
    connection.onicecandidateerror = ({ url, errorCode, errorText }) => {
      this.note(`The ICE server ${url} cannot be used: ${errorText || "no answer"} (${errorCode}).`);
    };
    connection.onconnectionstatechange = () => {
      this.listener.state(connection.connectionState);
      if (connection.connectionState === "failed" && this.caller) {
        this.#enqueue("the path could not be restored", () => this.#offer({ iceRestart: true }));
      }
    };
  }

  /** Passes on each note once. */
  readonly note = (text: string): void => {
    if (this.#notes.has(text)) return;
    this.#notes.add(text);
    this.listener.note(text);
  };

  /**
   * Runs one step after the other: candidates wait for their session description. If the step fails,
   * the user sees the text `failure`.
   */
  #enqueue(failure: string, step: () => Promise<void>): void {
    this.#work = this.#work.then(step).catch((error: unknown) => {
      if (this.#connection.signalingState === "closed") return;
      // Only the name of the error: its message may quote a session description, which contains credentials.
      this.listener.failed(`The call failed: ${failure} (${nameOf(error)}).`);
    });
  }

  /** Calls the other participant. */
  offer(): void {
    this.#enqueue("no offer could be created", async () => {
      for (const kind of ["audio", "video"] as const) {
        const track = this.local.getTracks().find((track) => track.kind === kind);
        const transceiver = track
          ? this.#connection.addTransceiver(track, { direction: "sendrecv", streams: [this.local] })
          : this.#connection.addTransceiver(kind, { direction: "recvonly" });
        preferCodec(transceiver, this.settings, this.note);
      }
      await this.#configure();
      await this.#offer({});
    });
  }

  async #offer(options: RTCOfferOptions): Promise<void> {
    await this.#connection.setLocalDescription(await this.#connection.createOffer(options));
    this.send({ type: "offer", sdp: this.#connection.localDescription?.sdp ?? "" });
  }

  /** Handles a message of the other participant. */
  take(message: ToPage & { type: "offer" | "answer" | "candidate" }): void {
    this.#enqueue(`the ${message.type} of the other participant was rejected`, async () => {
      if (message.type === "candidate") return this.#addCandidate(message.candidate);
      await this.#connection.setRemoteDescription(message);
      if (message.type === "offer") await this.#answer();
      await this.#configure();
    });
  }

  /** Adds a candidate. If the browser rejects it, the call may succeed with another one. */
  async #addCandidate(candidate: RTCIceCandidateInit): Promise<void> {
    try {
      await this.#connection.addIceCandidate(candidate);
    } catch (error) {
      if (this.#connection.signalingState === "closed") return;
      this.note(`A candidate of the other participant was rejected (${nameOf(error)}).`);
    }
  }

  async #answer(): Promise<void> {
    for (const transceiver of this.#connection.getTransceivers()) {
      const track = this.local.getTracks().find((track) => track.kind === transceiver.receiver.track.kind);
      if (!track || transceiver.sender.track) continue;
      await transceiver.sender.replaceTrack(track);
      transceiver.sender.setStreams?.(this.local);
      transceiver.direction = "sendrecv";
      preferCodec(transceiver, this.settings, this.note);
    }
    await this.#configure();
    await this.#connection.setLocalDescription();
    this.send({ type: "answer", sdp: this.#connection.localDescription?.sdp ?? "" });
  }

  async #configure(): Promise<void> {
    for (const sender of this.#connection.getSenders()) await configure(sender, this.settings, this.note);
  }

  /** Applies a new maximum bitrate and new priorities during the call; other settings apply to the next call. */
  reconfigure(settings: CallSettings): void {
    this.settings = settings;
    this.#enqueue("the settings were rejected", () => this.#configure());
  }

  /** `RTCPeerConnection.connectionState`. */
  get state(): RTCPeerConnectionState {
    return this.#connection.connectionState;
  }

  /** All members of all objects of `getStats`. */
  stats(): Promise<StatsReport> {
    return statsOf(this.#connection);
  }

  close(): void {
    this.#connection.onconnectionstatechange = null;
    this.#connection.close();
  }
}
