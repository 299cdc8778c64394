// A call through an IMS: SIP over a secure WebSocket (RFC 7118) with JsSIP.
import { UA, WebSocketInterface, debug } from "jssip";
import type { RTCSession } from "jssip/lib/RTCSession";
import { statsOf, type AnyCall, type CallListener } from "./call";
import type { CallSettings, FromPage, ImsSettings, StatsReport } from "./generated/messages";
import { accessDescription, browserDescription } from "./sdp";
import { configure, preferCodec } from "./senders";

/** The port of the Contact. Nothing listens there: requests arrive on the WebSocket. */
const CONTACT_PORT = 5070;
/** The time limit for the BYE and the end of the registration, milliseconds. */
const CLOSE_TIMEOUT = 1000;

interface Failure {
  cause?: string | undefined;
  message?: unknown;
  response?: unknown;
}

/** `403 Wrong Password`, or the cause that JsSIP names. */
function reasonOf({ cause, message, response }: Failure): string {
  const answer = (response ?? message) as { status_code?: number; reason_phrase?: string } | null | undefined;
  return answer?.status_code ? `${answer.status_code} ${answer.reason_phrase ?? ""}`.trim() : (cause ?? "no reason is given");
}

export class ImsCall implements AnyCall {
  readonly remote = new MediaStream();
  readonly #agent: UA;
  readonly #identity: string;
  #session: RTCSession | null = null;
  #connection: RTCPeerConnection | null = null;
  #asked = 0;
  #closing = false;

  constructor(
    private readonly settings: CallSettings,
    private readonly ims: ImsSettings,
    private readonly local: MediaStream,
    private readonly send: (message: FromPage) => void,
    private readonly listener: CallListener,
  ) {
    debug.disable();
    const { user, domain, address } = ims;
    this.#identity = `sip:${user}@${domain}`;
    this.#agent = new UA({
      sockets: [new WebSocketInterface(ims.server)],
      uri: this.#identity,
      authorization_user: `${user}@${domain}`,
      realm: domain,
      password: ims.password,
      // A host that is an address: the P-CSCF finds a registration by the address of its contact.
      contact_uri: `sip:${user}@${address}:${CONTACT_PORT};transport=ws`,
      register: false,
      session_timers: false,
      connection_recovery_min_interval: 1,
      connection_recovery_max_interval: 2,
    });
    this.#listen();
  }

  #listen(): void {
    const agent = this.#agent;
    agent.on("connected", () => {
      this.#asked = performance.now();
      agent.register();
    });
    agent.on("registered", () => this.#done("registered"));
    agent.on("registrationFailed", (failure: Failure) => {
      if (!this.#closing) this.listener.failed(`The registration of ${this.#identity} failed: ${reasonOf(failure)}.`);
    });
    agent.on("disconnected", () => {
      if (!this.#closing && this.#asked) this.listener.note("The connection to the P-CSCF is lost.");
    });
    agent.on("newRTCSession", ({ originator, session }: { originator: string; session: RTCSession }) => {
      if (originator !== "remote") return;
      this.#follow(session);
      session.answer({ mediaStream: this.local, pcConfig: { iceServers: [] } });
    });
  }

  /** Connects to the P-CSCF and registers. */
  register(): void {
    this.#agent.start();
  }

  offer(): void {
    const { callee, domain } = this.ims;
    if (!callee) return this.listener.failed("the run started a call without a called user");
    this.#asked = performance.now();
    const receives = (kind: string) => !this.local.getTracks().some((track) => track.kind === kind);
    const session = this.#agent.call(`sip:${callee}@${domain}`, {
      mediaStream: this.local,
      pcConfig: { iceServers: [] },
      rtcOfferConstraints: {
        ...(receives("audio") && this.settings.audio && { offerToReceiveAudio: true }),
        ...(receives("video") && this.settings.video && { offerToReceiveVideo: true }),
      },
      eventHandlers: { peerconnection: (event: { peerconnection: RTCPeerConnection }) => this.#use(event.peerconnection) },
    });
    this.#follow(session);
  }

  #follow(session: RTCSession): void {
    this.#session = session;
    session.on("peerconnection", (event: { peerconnection: RTCPeerConnection }) => this.#use(event.peerconnection));
    session.on("sdp", (description) => {
      description.sdp =
        description.originator === "local"
          ? accessDescription(description.sdp, this.ims.address, this.#bandwidths())
          : browserDescription(description.sdp);
    });
    session.on("accepted", () => {
      if (session.direction === "outgoing") this.#done("accepted");
    });
    session.on("failed", (failure: Failure) => {
      if (!this.#closing) this.listener.failed(`The call failed: ${reasonOf(failure)}.`);
    });
    session.on("ended", ({ cause }: { cause: string }) => {
      if (!this.#closing) this.listener.note(`The call was ended (${cause}).`);
    });
  }

  /** Applies the settings to the connection that JsSIP has made. */
  #use(connection: RTCPeerConnection): void {
    if (this.#connection === connection) return;
    this.#connection = connection;
    connection.ontrack = ({ track }) => this.remote.addTrack(track);
    connection.onconnectionstatechange = () => this.listener.state(connection.connectionState);
    const prefer = () => connection.getTransceivers().forEach((one) => preferCodec(one, this.settings, this.listener.note));
    for (const name of ["createOffer", "createAnswer"] as const) {
      const create = connection[name].bind(connection) as (options?: object) => Promise<RTCSessionDescriptionInit>;
      connection[name] = ((options?: object) => {
        prefer();
        return create(options);
      }) as never;
    }
    connection.addEventListener("signalingstatechange", () => {
      if (connection.signalingState !== "stable") return;
      for (const sender of connection.getSenders()) void configure(sender, this.settings, this.listener.note);
    });
  }

  /** The bandwidth per medium that the network should reserve, kbit/s with the headers of IP and UDP. */
  #bandwidths(): Partial<Record<string, number>> {
    const { audio, video } = this.settings;
    // 10 % more than the media: headers of 40 bytes per packet of about 1100 bytes, and 5 % RTCP (RFC 3550 § 6.2).
    return {
      // Opus at 32 kbit/s in 50 packets per second, and their headers.
      ...(audio && { audio: 64 }),
      ...(video?.maxBitrate && { video: Math.ceil((1.1 * video.maxBitrate) / 1000) }),
    };
  }

  #done(step: "registered" | "accepted"): void {
    if (!this.#closing) this.send({ type: "milestone", step, elapsed: performance.now() - this.#asked });
  }

  /** The session descriptions of a call through an IMS do not pass the room. */
  take(): void {}

  async stats(): Promise<StatsReport | null> {
    return this.#connection && statsOf(this.#connection);
  }

  /** Hangs up and ends the registration. */
  async close(): Promise<void> {
    if (this.#closing) return;
    this.#closing = true;
    if (this.#connection) this.#connection.onconnectionstatechange = null;
    const over = new Promise<void>((resolve) => {
      this.#agent.on("unregistered", () => resolve());
      setTimeout(resolve, CLOSE_TIMEOUT);
    });
    if (this.#session && !this.#session.isEnded()) this.#session.terminate();
    if (this.#agent.isRegistered()) {
      this.#agent.unregister();
      await over;
    }
    this.#agent.stop();
  }
}
