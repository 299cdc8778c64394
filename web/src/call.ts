// One call: an RTCPeerConnection. Who was in the room first offers, so that offers never cross.
import type { CallSettings, FromPage, StatsReport, ToPage } from "./generated/messages";
import { configure, preferCodec } from "./senders";
import { nameOf } from "./words";

export interface CallListener {
  /** `connectionState` has become this. */
  state(state: RTCPeerConnectionState): void;
  /** A setting that this browser lacks, an ICE server that does not answer. */
  note(text: string): void;
  /** The call cannot be made. */
  failed(text: string): void;
}

export class Call {
  /** What the other end sends. */
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
      this.note(`The ICE server ${url} does not serve: ${errorText || "no answer"} (${errorCode}).`);
    };
    connection.onconnectionstatechange = () => {
      this.listener.state(connection.connectionState);
      if (connection.connectionState === "failed" && this.caller) {
        this.#do("its path cannot be renewed", () => this.#offer({ iceRestart: true }));
      }
    };
  }

  /** Tells each thing once. */
  readonly note = (text: string): void => {
    if (this.#notes.has(text)) return;
    this.#notes.add(text);
    this.listener.note(text);
  };

  /** One step after the other: candidates wait for the description that they belong to. */
  #do(broken: string, step: () => Promise<void>): void {
    this.#work = this.#work.then(step).catch((error: unknown) => {
      if (this.#connection.signalingState === "closed") return;
      // The error's name alone: its message may quote a session description, which holds credentials.
      this.listener.failed(`The call cannot be made: ${broken} (${nameOf(error)}).`);
    });
  }

  /** Calls, as the one who offers. */
  offer(): void {
    this.#do("there is no offer", async () => {
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

  /** Takes what comes from the other end. */
  take(message: ToPage & { type: "offer" | "answer" | "candidate" }): void {
    this.#do(`the other end's ${message.type} is not taken`, async () => {
      if (message.type === "candidate") return this.#candidate(message.candidate);
      await this.#connection.setRemoteDescription(message);
      if (message.type === "offer") await this.#answer();
      await this.#configure();
    });
  }

  /** One that is refused is one way fewer; the call may find another. */
  async #candidate(candidate: RTCIceCandidateInit): Promise<void> {
    try {
      await this.#connection.addIceCandidate(candidate);
    } catch (error) {
      if (this.#connection.signalingState === "closed") return;
      this.note(`A candidate of the other end is not taken (${nameOf(error)}).`);
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

  /** Takes new caps and priorities while the call goes on; the rest of the settings is for the next. */
  reconfigure(settings: CallSettings): void {
    this.settings = settings;
    this.#do("its settings are not taken", () => this.#configure());
  }

  /** `connectionState` */
  get state(): RTCPeerConnectionState {
    return this.#connection.connectionState;
  }

  /** `getStats`, with every member of every object. */
  async stats(): Promise<StatsReport> {
    const at = performance.timeOrigin + performance.now();
    const report = await this.#connection.getStats();
    const stats: StatsReport["stats"] = {};
    report.forEach((value: { id: string }) => (stats[value.id] = { ...value }));
    return { at, stats };
  }

  close(): void {
    this.#connection.onconnectionstatechange = null;
    this.#connection.close();
  }
}
