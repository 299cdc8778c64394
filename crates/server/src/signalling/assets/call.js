// src/dom.ts
function part(id, type) {
  const element = document.getElementById(id);
  if (!(element instanceof type)) throw new Error(`the page has no ${type.name} '${id}'`);
  return element;
}

// src/broker.ts
var SERVICE = "weir-page";
async function openSession({ user, region, specialised }, send = fetch) {
  const headers = { "Content-Type": "application/json" };
  const body = JSON.stringify({ service: SERVICE, user, ...region && { region }, specialised });
  try {
    const answer = await send("/broker/v1/sessions", { method: "POST", headers, body });
    if (answer.status === 404) return "This server has no broker. Start the server with --broker FILE.";
    const content = await answer.json();
    if (answer.ok && isSession(content)) return content;
    return `The broker gave no relay: ${detailOf(content) ?? `status ${answer.status}`}.`;
  } catch {
    return "The broker does not answer.";
  }
}
function closeSession(session) {
  void fetch(`/broker/v1/sessions/${session.id}`, { method: "DELETE", keepalive: true }).catch(() => void 0);
}
function isSession(body) {
  if (typeof body !== "object" || body === null) return false;
  const { id, iceServers: iceServers2 } = body;
  return typeof id === "string" && /^[0-9a-f]+$/.test(id) && Array.isArray(iceServers2);
}
function detailOf(body) {
  if (typeof body !== "object" || body === null || !("detail" in body)) return null;
  return typeof body.detail === "string" ? body.detail : null;
}

// src/texts.ts
var PageError = class extends Error {
};
var DEVICES = {
  NotAllowedError: "The browser has no permission to use the camera or microphone. Allow it in the address bar, then join again.",
  NotFoundError: "No camera or microphone was found. Connect one, or switch off Video or Audio.",
  NotReadableError: "Another program uses the camera or microphone. Close that program, then join again.",
  OverconstrainedError: "The camera does not support this size or frame rate. Choose another one.",
  AbortError: "The camera or microphone stopped. Join again."
};
function mediaErrorText(error) {
  if (error instanceof PageError) return error.message;
  return DEVICES[nameOf(error)] ?? `Camera or microphone cannot be used: ${messageOf(error)}`;
}
function nameOf(error) {
  return typeof error === "object" && error !== null && "name" in error ? String(error.name) : "";
}
function messageOf(error) {
  return error instanceof Error ? error.message : String(error);
}
var STATES = {
  new: "Calling…",
  connecting: "Connecting…",
  connected: "Connected",
  disconnected: "The connection is interrupted. Waiting…",
  closed: "The call is over."
};
function stateText(state, relay) {
  if (state !== "failed") return STATES[state] ?? state;
  return relay ? "No path to the other browser through the relay. Check the address, user name and password of the TURN server." : "No direct path to the other browser. Check both networks, or use a relay (TURN).";
}

// src/senders.ts
function preferCodec(transceiver, settings, note) {
  const wanted = settings.video?.codec;
  if (!wanted || transceiver.receiver.track.kind !== "video") return;
  const codecs = RTCRtpReceiver.getCapabilities?.("video")?.codecs ?? [];
  const isWanted = (codec) => codec.mimeType.toLowerCase() === `video/${wanted}`;
  if (!codecs.some(isWanted)) return note(`This browser does not support ${wanted.toUpperCase()}; it chooses another codec.`);
  if (!("setCodecPreferences" in transceiver)) return note("This browser cannot choose the codec (no setCodecPreferences).");
  try {
    transceiver.setCodecPreferences([...codecs.filter(isWanted), ...codecs.filter((codec) => !isWanted(codec))]);
  } catch (error) {
    note(`The browser rejected the codec: ${messageOf(error)}`);
  }
}
async function configure(sender, settings, note) {
  const kind = sender.track?.kind;
  if (!kind) return;
  const priority2 = kind === "video" ? settings.video?.priority : settings.audioPriority;
  await change(sender, "priority", note, (encoding) => {
    if (priority2) encoding.networkPriority = priority2;
    else if (encoding.networkPriority) encoding.networkPriority = "low";
  });
  const [applied] = sender.getParameters().encodings;
  if (priority2 && applied && applied.networkPriority !== priority2) note("This browser does not mark packets (no networkPriority).");
  if (kind !== "video") return;
  await change(sender, "maximum bitrate", note, (encoding) => {
    if (settings.video?.maxBitrate) encoding.maxBitrate = settings.video.maxBitrate;
    else delete encoding.maxBitrate;
  });
  await change(sender, "codec", note, (encoding, { codecs }) => {
    const wanted = codecs?.find((codec) => codec.mimeType.toLowerCase() === `video/${settings.video?.codec}`);
    if (wanted) encoding.codec = wanted;
  });
}
async function change(sender, what, note, edit) {
  const parameters = sender.getParameters();
  const [encoding] = parameters.encodings;
  if (!encoding) return;
  const before = JSON.stringify(encoding);
  edit(encoding, parameters);
  if (JSON.stringify(encoding) === before) return;
  try {
    await sender.setParameters(parameters);
  } catch (error) {
    note(`The browser rejected the ${what}: ${messageOf(error)}`);
  }
}

// src/call.ts
async function statsOf(connection) {
  const at = performance.timeOrigin + performance.now();
  const report = await connection.getStats();
  const stats = {};
  report.forEach((value) => stats[value.id] = { ...value });
  return { at, stats };
}
var Call = class {
  constructor(settings, local, caller, send, listener) {
    this.settings = settings;
    this.local = local;
    this.caller = caller;
    this.send = send;
    this.listener = listener;
    this.#connection = new RTCPeerConnection({
      iceServers: settings.iceServers,
      iceTransportPolicy: settings.relay ? "relay" : "all"
    });
    this.#listen();
  }
  settings;
  local;
  caller;
  send;
  listener;
  /** The received media. */
  remote = new MediaStream();
  #connection;
  #work = Promise.resolve();
  #notes = /* @__PURE__ */ new Set();
  #listen() {
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
          usernameFragment: usernameFragment ?? null
        }
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
  note = (text3) => {
    if (this.#notes.has(text3)) return;
    this.#notes.add(text3);
    this.listener.note(text3);
  };
  /**
   * Runs one step after the other: candidates wait for their session description. If the step fails,
   * the user sees the text `failure`.
   */
  #enqueue(failure, step) {
    this.#work = this.#work.then(step).catch((error) => {
      if (this.#connection.signalingState === "closed") return;
      this.listener.failed(`The call failed: ${failure} (${nameOf(error)}).`);
    });
  }
  /** Calls the other participant. */
  offer() {
    this.#enqueue("no offer could be created", async () => {
      for (const kind of ["audio", "video"]) {
        const track = this.local.getTracks().find((track2) => track2.kind === kind);
        const transceiver = track ? this.#connection.addTransceiver(track, { direction: "sendrecv", streams: [this.local] }) : this.#connection.addTransceiver(kind, { direction: "recvonly" });
        preferCodec(transceiver, this.settings, this.note);
      }
      await this.#configure();
      await this.#offer({});
    });
  }
  async #offer(options) {
    await this.#connection.setLocalDescription(await this.#connection.createOffer(options));
    this.send({ type: "offer", sdp: this.#connection.localDescription?.sdp ?? "" });
  }
  /** Handles a message of the other participant. */
  take(message) {
    this.#enqueue(`the ${message.type} of the other participant was rejected`, async () => {
      if (message.type === "candidate") return this.#addCandidate(message.candidate);
      await this.#connection.setRemoteDescription(message);
      if (message.type === "offer") await this.#answer();
      await this.#configure();
    });
  }
  /** Adds a candidate. If the browser rejects it, the call may succeed with another one. */
  async #addCandidate(candidate) {
    try {
      await this.#connection.addIceCandidate(candidate);
    } catch (error) {
      if (this.#connection.signalingState === "closed") return;
      this.note(`A candidate of the other participant was rejected (${nameOf(error)}).`);
    }
  }
  async #answer() {
    for (const transceiver of this.#connection.getTransceivers()) {
      const track = this.local.getTracks().find((track2) => track2.kind === transceiver.receiver.track.kind);
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
  async #configure() {
    for (const sender of this.#connection.getSenders()) await configure(sender, this.settings, this.note);
  }
  /** Applies a new maximum bitrate and new priorities during the call; other settings apply to the next call. */
  reconfigure(settings) {
    this.settings = settings;
    this.#enqueue("the settings were rejected", () => this.#configure());
  }
  /** `RTCPeerConnection.connectionState`. */
  get state() {
    return this.#connection.connectionState;
  }
  /** All members of all objects of `getStats`. */
  stats() {
    return statsOf(this.#connection);
  }
  close() {
    this.#connection.onconnectionstatechange = null;
    this.#connection.close();
  }
};

// src/media.ts
var FILM_TIMEOUT = 1e4;
async function acquire(settings, unprocessed) {
  if (!settings.sends || !settings.audio && !settings.video) return { stream: new MediaStream(), stop: () => {
  } };
  return settings.source === "film" ? film(settings) : devices(settings, unprocessed);
}
async function devices(settings, unprocessed) {
  const devices2 = navigator.mediaDevices;
  if (!devices2) throw new PageError("This browser does not allow camera and microphone at this address. Open the page as http://localhost.");
  const processing = { echoCancellation: !unprocessed, noiseSuppression: !unprocessed, autoGainControl: !unprocessed };
  const { video } = settings;
  const stream = await devices2.getUserMedia({
    audio: settings.audio && processing,
    video: video && {
      width: { ideal: video.width },
      height: { ideal: video.height },
      frameRate: { ideal: video.frameRate }
    }
  });
  return { stream, stop: () => stream.getTracks().forEach((track) => track.stop()) };
}
async function film(settings) {
  const element = document.createElement("video");
  Object.assign(element, { src: "/media/film.webm", loop: true, muted: true, playsInline: true });
  element.className = "film";
  element.setAttribute("aria-hidden", "true");
  document.body.append(element);
  const stop = () => {
    element.pause();
    element.remove();
  };
  try {
    await element.play();
    const capture = element.captureStream ?? element.mozCaptureStream;
    if (!capture) throw new PageError("This browser cannot send a film. Choose camera and microphone.");
    const captured = capture.call(element);
    const kinds = [...settings.audio ? ["audio"] : [], ...settings.video ? ["video"] : []];
    await tracksOf(captured, kinds);
    const stream = new MediaStream(captured.getTracks().filter((track) => kinds.includes(track.kind)));
    return { stream, stop };
  } catch (error) {
    stop();
    if (error instanceof PageError) throw error;
    throw new PageError("The server has no film to send. Start it with --film FILE, or choose camera and microphone.");
  }
}
function tracksOf(stream, kinds) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new PageError(`The film has no ${missing().join(" and no ")} track.`)), FILM_TIMEOUT);
    const missing = () => kinds.filter((kind) => !stream.getTracks().some((track) => track.kind === kind));
    const check = () => {
      if (missing().length > 0) return;
      clearTimeout(timer);
      resolve();
    };
    stream.addEventListener("addtrack", check);
    check();
  });
}

// src/format.ts
var NONE = "–";
function rate(value) {
  if (value === void 0) return NONE;
  if (value < 999500) return `${(value / 1e3).toFixed(0)} kbit/s`;
  return `${(value / 1e6).toFixed(value < 9995e3 ? 2 : 1)} Mbit/s`;
}
function share(value) {
  if (value === void 0) return NONE;
  return `${(100 * value).toFixed(value > 0 && value < 0.0995 ? 1 : 0)} %`;
}
function time(value) {
  return value === void 0 ? NONE : `${(1e3 * value).toFixed(value < 995e-5 ? 1 : 0)} ms`;
}
function frameSize(width, height) {
  return width && height ? `${width} × ${height}` : NONE;
}
function frames(value) {
  return value === void 0 ? NONE : `${value.toFixed(0)} fps`;
}
function plain(value) {
  return value ?? NONE;
}
function sparkline(values, length, width, height) {
  const top = Math.max(...values.map((value) => value ?? 0), Number.MIN_VALUE);
  const step = width / (length - 1);
  const first = length - values.length;
  return values.flatMap((value, index) => {
    if (value === void 0) return [];
    const x = (first + index) * step;
    const y = height - value / top * height;
    return [`${x.toFixed(1)},${y.toFixed(1)}`];
  }).join(" ");
}

// src/stats.ts
var number = (stat, name) => {
  const value = stat?.[name];
  return typeof value === "number" && Number.isFinite(value) ? value : void 0;
};
var text = (stat, name) => typeof stat?.[name] === "string" ? stat[name] : void 0;
function snapshot({ at, stats }) {
  const all = Object.values(stats);
  const of = (type) => all.filter((stat) => stat.type === type);
  const find = (id) => id === void 0 ? void 0 : stats[id];
  const flow = (streams, direction, losses) => {
    const video = streams.find((stat) => stat.kind === "video");
    const main = video ?? streams[0];
    return {
      bytes: sum(streams, `bytes${direction}`),
      packets: sum(streams, `packets${direction}`),
      lost: sum(losses, "packetsLost"),
      width: number(video, "frameWidth"),
      height: number(video, "frameHeight"),
      framesPerSecond: number(video, "framesPerSecond"),
      frames: number(video, direction === "Sent" ? "framesEncoded" : "framesDecoded") ?? 0,
      codec: text(find(text(main, "codecId")), "mimeType")?.split("/")[1]
    };
  };
  const remote = of("remote-inbound-rtp");
  const pair = selectedPair(of("candidate-pair"), of("transport"));
  return {
    at,
    sent: flow(of("outbound-rtp"), "Sent", remote),
    received: flow(of("inbound-rtp"), "Received", of("inbound-rtp")),
    // From RTCP if this page sends, because Firefox reports 0 for the candidate pair.
    roundTripTime: number(remote.find((stat) => "roundTripTime" in stat), "roundTripTime") ?? number(pair, "currentRoundTripTime"),
    path: path(find(text(pair, "localCandidateId")), find(text(pair, "remoteCandidateId")))
  };
}
function sum(stats, name) {
  return stats.reduce((total, stat) => total + (number(stat, name) ?? 0), 0);
}
function selectedPair(pairs, transports) {
  const ids = transports.map((transport) => transport.selectedCandidatePairId);
  return pairs.find((pair) => ids.includes(pair.id)) ?? pairs.find((pair) => pair.selected === true) ?? pairs.find((pair) => pair.nominated === true && pair.state === "succeeded");
}
function path(local, remote) {
  if (!local || !remote) return void 0;
  const relayed = [local, remote].some((candidate) => candidate.candidateType === "relay");
  return `${relayed ? "relayed" : "direct"}, ${(text(local, "protocol") ?? "udp").toUpperCase()}`;
}
function rates(before, now) {
  const seconds = before ? (now.at - before.at) / 1e3 : 0;
  const direction = (old, flow, isSender) => {
    const { width, height, codec } = flow;
    if (!old || seconds <= 0) return { width, height, codec, framesPerSecond: flow.framesPerSecond };
    const [bytes, packets, lost, frames2] = [
      flow.bytes - old.bytes,
      flow.packets - old.packets,
      flow.lost - old.lost,
      flow.frames - old.frames
    ];
    const sent = isSender ? packets : packets + lost;
    return {
      width,
      height,
      codec,
      rate: bytes >= 0 ? bytes * 8 / seconds : void 0,
      // The remote reports are older than the local counters, so the quotient is limited to 1.
      loss: sent > 0 && lost >= 0 ? Math.min(lost / sent, 1) : void 0,
      framesPerSecond: flow.framesPerSecond ?? (width && frames2 >= 0 ? frames2 / seconds : void 0)
    };
  };
  return {
    sent: direction(before?.sent, now.sent, true),
    received: direction(before?.received, now.received, false),
    roundTripTime: now.roundTripTime,
    path: now.path
  };
}

// src/panel.ts
var LENGTH = 60;
var WIDTH = 240;
var HEIGHT = 44;
var Panel = class {
  constructor(root) {
    this.root = root;
  }
  root;
  #previous;
  #plots = { sent: [], received: [], rtt: [] };
  /** Shows the next report. */
  show(report) {
    const now = snapshot(report);
    const values = rates(this.#previous, now);
    this.#previous = now;
    this.#direction("sent", values.sent);
    this.#direction("received", values.received);
    this.#path(values);
  }
  clear() {
    this.#previous = void 0;
    this.#plots = { sent: [], received: [], rtt: [] };
    this.#direction("sent", {});
    this.#direction("received", {});
    this.#path({ sent: {}, received: {} });
  }
  #direction(name, values) {
    this.#set(`${name}-rate`, rate(values.rate));
    this.#set(`${name}-loss`, share(values.loss));
    this.#set(`${name}-size`, frameSize(values.width, values.height));
    this.#set(`${name}-frames`, frames(values.framesPerSecond));
    this.#set(`${name}-codec`, plain(values.codec));
    this.#plot(name, values.rate, rate);
  }
  #path(values) {
    this.#set("rtt", time(values.roundTripTime));
    this.#set("path", plain(values.path));
    this.#plot("rtt", values.roundTripTime, time);
  }
  #set(name, text3) {
    const element = this.root.querySelector(`[data-value="${name}"]`);
    if (element) element.textContent = text3;
  }
  #plot(name, value, format) {
    const values = this.#plots[name];
    if (value !== void 0 || values.length > 0) values.push(value);
    if (values.length > LENGTH) values.shift();
    const points = sparkline(values, LENGTH, WIDTH, HEIGHT);
    const svg = this.root.querySelector(`[data-plot="${name}"]`);
    if (!svg) return;
    svg.querySelector("polyline")?.setAttribute("points", points);
    const ends = points.split(" ");
    const area = points && `${ends[0]?.split(",")[0]},${HEIGHT} ${points} ${ends.at(-1)?.split(",")[0]},${HEIGHT}`;
    svg.querySelector("polygon")?.setAttribute("points", area);
    const known = values.filter((value2) => value2 !== void 0);
    this.#set(`${name}-top`, known.length > 0 ? `max. ${format(Math.max(...known))}` : "");
  }
};

// src/parse.ts
var text2 = (value) => typeof value === "string";
var object = (value) => typeof value === "object" && value !== null;
var SHAPES = {
  welcome: {
    peer: (value) => typeof value === "boolean",
    settings: (value) => typeof value === "object",
    key: (value) => value === null || text2(value)
  },
  "peer-joined": {},
  "peer-left": {},
  offer: { sdp: text2 },
  answer: { sdp: text2 },
  candidate: { candidate: object },
  bye: {},
  register: {},
  start: { epoch: Number.isFinite },
  stop: {},
  error: { reason: text2, message: text2 }
};
function parseMessage(data) {
  let value;
  try {
    value = JSON.parse(String(data));
  } catch {
    return null;
  }
  if (!object(value)) return null;
  const message = value;
  if (typeof message.type !== "string" || !Object.hasOwn(SHAPES, message.type)) return null;
  const shape = SHAPES[message.type];
  const isValid = Object.entries(shape).every(([name, is]) => name in message && is(message[name]));
  return isValid ? message : null;
}
function isRoomName(name) {
  return /^[a-z0-9-]{1,64}$/.test(name);
}

// src/settings.ts
var DEFAULTS = {
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
  iceuser: ""
};
var ALLOWED = {
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
  region: /^[A-Za-z0-9._@-]{0,64}$/
};
var MIN_BITRATE = 30;
var MAX_BITRATE = 1e5;
function fromAddress(query2) {
  const fields = { ...DEFAULTS };
  for (const name of Object.keys(DEFAULTS)) {
    const value = query2.get(name);
    if (value !== null && (ALLOWED[name]?.test(value) ?? true)) fields[name] = value;
  }
  return fields;
}
function toAddress(fields) {
  const names = Object.keys(DEFAULTS);
  return new URLSearchParams(names.filter((name) => fields[name] !== DEFAULTS[name]).map((name) => [name, fields[name]]));
}
function keyOf(room, known) {
  return room === known.room ? known.key : "";
}
function toLink(fields, known) {
  const key2 = keyOf(fields.room, known);
  return `?${toAddress(fields)}${key2 && `#${key2}`}`;
}
function inCall(joined, form) {
  const { max, priority: priority2, audiopriority } = form;
  return { ...joined, max, priority: priority2, audiopriority };
}
function toSettings(fields, password) {
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
    video: fields.video === "1" ? {
      width: width ?? 640,
      height: height ?? 360,
      frameRate: Number(fields.fps),
      codec: fields.codec || null,
      maxBitrate: max && max * 1e3,
      priority: priority(fields, fields.priority)
    } : null,
    audioPriority: priority(fields, fields.audiopriority),
    source: fields.source === "film" ? "film" : "devices",
    iceServers: servers,
    relay,
    render: true,
    statsInterval: 0,
    ims: null
  };
}
function isBrokered(fields) {
  return fields.relay === "basic" || fields.relay === "specialised";
}
function priority(fields, chosen) {
  return fields.relay === "specialised" ? "high" : chosen || null;
}
function iceServers(fields, password) {
  const url = fields.ice.trim();
  if (url === "" || isBrokered(fields)) return [];
  if (!/^(stun|stuns|turn|turns):[^\s/]+$/.test(url)) {
    return "The address of the ICE server is not valid. Use for example turn:192.0.2.1:3478 or stun:stun.example.org.";
  }
  if (url.startsWith("stun")) return [{ urls: [url] }];
  if (!fields.iceuser || !password) return "A TURN server needs a user name and a password. Enter both under Path.";
  return [{ urls: [url], username: fields.iceuser, credential: password }];
}

// src/signalling.ts
var MIN_WAIT = 500;
var MAX_WAIT = 8e3;
var Signalling = class {
  constructor(room, hello, reconnect, listener) {
    this.room = room;
    this.hello = hello;
    this.reconnect = reconnect;
    this.listener = listener;
    this.#open();
  }
  room;
  hello;
  reconnect;
  listener;
  #socket = null;
  #timer;
  #wait = MIN_WAIT;
  #closed = false;
  #open() {
    const socket = new WebSocket(`ws://${location.host}/ws/${encodeURIComponent(this.room)}`);
    this.#socket = socket;
    socket.onopen = () => this.send(this.hello());
    socket.onmessage = (event) => {
      const message = parseMessage(event.data);
      if (!message || this.#closed) return;
      if (message.type === "error") this.close();
      if (message.type === "welcome") this.#wait = MIN_WAIT;
      this.listener.message(message);
    };
    socket.onclose = () => {
      if (this.#closed) return;
      this.listener.lost();
      if (this.reconnect) this.#timer = setTimeout(() => this.#open(), this.#wait);
      this.#wait = Math.min(2 * this.#wait, MAX_WAIT);
    };
  }
  /** Sends the message if there is a connection; otherwise it is discarded. After reconnecting, the call starts again. */
  send(message) {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message));
  }
  close() {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#socket?.close();
  }
};

// src/manual.ts
var PANEL_INTERVAL = 1e3;
var ALONE = "Nobody else is in the room. Send the link to the other participant, or open it in a second tab.";
var ManualCall = class {
  /** `key` is the key of the room in the address; empty if the address has none. */
  constructor(screen2, key2) {
    this.screen = screen2;
    const fields = fromAddress(new URLSearchParams(location.search));
    this.#known = { room: fields.room, key: key2 };
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
  screen;
  #form = part("settings", HTMLFormElement);
  #panel = new Panel(part("panel", HTMLElement));
  #media = null;
  #signalling = null;
  #call = null;
  /** The room of the address or the room that was joined last, with its key. */
  #known;
  /** The form when the room was joined; null in the lobby. */
  #joined = null;
  /** The settings of the call; null until the room is joined. */
  #settings = null;
  /** The user name at the broker, so that the two participants of a room are two users. */
  #user = crypto.randomUUID();
  /** The session of the broker, if it chose the relay. */
  #session = null;
  /** The connection to the server is lost during a call; the call continues without it. */
  #serverLost = false;
  /** The other page has lost its connection to the server; an established call continues. */
  #peerLeft = false;
  #fields() {
    const fields = { ...DEFAULTS };
    for (const name of Object.keys(DEFAULTS)) {
      const field = this.#form.elements.namedItem(name);
      if (field instanceof HTMLInputElement && field.type === "checkbox") fields[name] = field.checked ? "1" : "0";
      else if (field instanceof RadioNodeList || field instanceof HTMLInputElement || field instanceof HTMLSelectElement) fields[name] = field.value.trim();
    }
    return this.#joined ? inCall(this.#joined, fields) : fields;
  }
  /** Updates the address and the form, and applies a changed maximum bitrate or priority to the call. */
  #changed() {
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
  #showAddress(fields) {
    history.replaceState(null, "", toLink(fields, this.#known));
    const link = part("room-link", HTMLAnchorElement);
    link.href = link.textContent = this.#link(fields);
  }
  /** The link for the other participant, who may be in another region. */
  #link(fields) {
    return `${location.origin}/call${toLink({ ...fields, region: DEFAULTS.region }, this.#known)}`;
  }
  /**
   * Disables fields: all of them while joining, the fixed ones during a call, and those of the video
   * if no video is sent.
   */
  #disableFields(fields) {
    for (const fieldset of this.#form.querySelectorAll("fieldset")) {
      const isFixed = this.#joined !== null && (this.#settings === null || fieldset.hasAttribute("data-fixed"));
      fieldset.disabled = isFixed || fieldset.id === "video-fields" && fields.video === "0";
    }
  }
  async #join() {
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
      const key2 = keyOf(fields.room, this.#known);
      return { type: "hello", ...key2 && { key: key2 } };
    };
    this.#signalling = new Signalling(fields.room, hello, true, {
      message: (message) => this.#take(message),
      lost: () => {
        this.#serverLost = this.#call !== null;
        this.screen.status(`The connection to the server is lost. Reconnecting…${this.#serverLost ? " The call continues." : ""}`, true);
      }
    });
    part("mute", HTMLButtonElement).focus();
  }
  /** Gets the relay and the media; or an error text for the user. */
  async #prepare(fields, settings) {
    try {
      return await this.#requestRelay(fields, settings) ?? await acquire(settings, false);
    } catch (error) {
      return mediaErrorText(error);
    }
  }
  /** Requests a relay from the broker if the user chose that; gives an error text for the user. */
  async #requestRelay(fields, settings) {
    if (!isBrokered(fields)) return null;
    const session = await openSession({ user: this.#user, region: fields.region, specialised: fields.relay === "specialised" });
    if (typeof session === "string") return session;
    this.#session = session;
    settings.iceServers = session.iceServers;
    return null;
  }
  #closeSession() {
    if (this.#session) closeSession(this.#session);
    this.#session = null;
  }
  #take(message) {
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
        if (this.#serverLost && this.#call) this.screen.status(`${message.message} The call continues.`, true);
        else this.#leave(message.message, true);
        break;
      case "start":
      case "stop":
        break;
    }
  }
  /** The server has told the key of the room. */
  #opened(key2) {
    const fields = this.#fields();
    this.#known = { room: fields.room, key: key2 ?? "" };
    this.#showAddress(fields);
  }
  #begin(caller) {
    this.#drop();
    this.#peerLeft = false;
    const settings = this.#settings;
    const signalling = this.#signalling;
    if (!settings || !signalling || !this.#media) throw new Error("a call needs a room, its settings and media");
    this.screen.status("Calling…");
    const call = new Call(settings, this.#media.stream, caller, (message) => signalling.send(message), {
      state: (state) => this.#state(state),
      note: (text3) => this.#note(text3),
      failed: (text3) => this.screen.status(text3, true)
    });
    this.#call = call;
    this.screen.remote(call.remote, true);
    this.#showWaiting(false);
    return call;
  }
  #state(state) {
    if (state === "failed" && this.#peerLeft) return this.#peerGone();
    this.screen.status(stateText(state, this.#settings?.relay ?? false), state === "failed");
  }
  #peerGone() {
    this.#drop();
    this.screen.status("The other participant has left and can join this room again.");
  }
  /** Ends the call, but stays in the room. */
  #drop() {
    this.#call?.close();
    this.#call = null;
    this.#panel.clear();
    part("notes", HTMLUListElement).replaceChildren();
    this.screen.remote(new MediaStream(), true);
    this.#showWaiting(true);
  }
  #leave(text3, isError = false) {
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
    this.screen.status(text3, isError);
    part("join", HTMLButtonElement).focus();
  }
  #showView(name) {
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
  #showWaiting(isWaiting) {
    part("waiting", HTMLElement).hidden = !isWaiting;
  }
  #toggle(id, kind) {
    const button = part(id, HTMLButtonElement);
    button.addEventListener("click", () => {
      const off = button.getAttribute("aria-pressed") !== "true";
      button.setAttribute("aria-pressed", String(off));
      const tracks = this.#media?.stream.getTracks().filter((track) => track.kind === kind) ?? [];
      tracks.forEach((track) => track.enabled = !off);
    });
  }
  async #copy() {
    const link = this.#link(this.#fields());
    try {
      await navigator.clipboard.writeText(link);
      this.#note("Link copied.");
    } catch {
      this.#note(`Copy this link: ${link}`);
    }
  }
  #note(text3) {
    const item = document.createElement("li");
    item.textContent = text3;
    part("notes", HTMLUListElement).append(item);
  }
  async #report() {
    const call = this.#call;
    if (!call) return;
    try {
      const report = await call.stats();
      if (call === this.#call) this.#panel.show(report);
    } catch (error) {
      call.note(`No statistics available: ${messageOf(error)}`);
    }
  }
};
function fill(form, fields) {
  for (const [name, value] of Object.entries(fields)) {
    const field = form.elements.namedItem(name);
    if (field instanceof HTMLInputElement && field.type === "checkbox") field.checked = value === "1";
    else if (field instanceof RadioNodeList || field instanceof HTMLInputElement || field instanceof HTMLSelectElement) field.value = value;
  }
}

// src/schedule.ts
function nextReport(epoch, interval, now) {
  return now < epoch ? epoch : epoch + (Math.floor((now - epoch) / interval) + 1) * interval;
}

// src/measured.ts
var IMS = "/ims.js";
var MAX_NOTE = 2e3;
var MeasuredCall = class {
  constructor(room, role2, key2, screen2) {
    this.role = role2;
    this.screen = screen2;
    this.#signalling = new Signalling(room, () => ({ type: "hello", role: role2, key: key2 }), false, {
      message: (message) => this.#take(message),
      lost: () => this.#over || this.#end("The connection to the server is lost.", true)
    });
    addEventListener("error", (event) => this.#failed(`error in the page: ${event.message}`));
    addEventListener("unhandledrejection", (event) => this.#failed(`error in the page: ${messageOf(event.reason)}`));
  }
  role;
  screen;
  #signalling;
  #settings = null;
  #media = null;
  #call = null;
  #ims = null;
  #timer;
  /** The run has stopped the call or has ended; from now on nothing is reported. */
  #over = false;
  #take(message) {
    if (this.#over) return;
    switch (message.type) {
      case "welcome":
        if (message.settings) void this.#prepare(message.settings);
        break;
      case "register":
        this.#ims?.register();
        break;
      case "start":
        this.#start(message.epoch);
        break;
      case "stop":
        void this.#stop();
        break;
      case "offer":
      case "answer":
      case "candidate":
        this.#call?.take(message);
        break;
      case "error":
        this.#end(message.message, message.reason !== "over");
        break;
      case "peer-joined":
      case "peer-left":
      case "bye":
        break;
    }
  }
  async #prepare(settings) {
    this.#settings = settings;
    try {
      this.#media = await acquire(settings, true);
    } catch (error) {
      return this.#failed(mediaErrorText(error));
    }
    if (this.#over) return this.#media.stop();
    const send = (message) => this.#signalling.send(message);
    const listener = {
      state: (state) => {
        if (this.#over) return;
        send({ type: "connection-state", state });
        this.screen.status(stateText(state, settings.relay), state === "failed");
      },
      note: (message) => send({ type: "log", message: message.slice(0, MAX_NOTE) }),
      failed: (message) => this.#failed(message)
    };
    if (settings.ims) {
      try {
        const module = await import(IMS);
        this.#call = this.#ims = new module.ImsCall(settings, settings.ims, this.#media.stream, send, listener);
      } catch (error) {
        return this.#failed(`no call through an IMS is possible: ${messageOf(error)}`);
      }
    } else {
      this.#call = new Call(settings, this.#media.stream, this.role === "caller", send, listener);
    }
    if (settings.render) this.screen.local(this.#media.stream);
    this.screen.remote(this.#call.remote, settings.render);
    this.screen.status("Ready. Waiting for the run to start the call.");
    send({ type: "ready" });
  }
  #start(epoch) {
    if (!this.#call || !this.#settings) return this.#failed("the run started the call before this page was ready");
    this.screen.status("Calling…");
    if (this.role === "caller") this.#call.offer();
    if (this.#settings.statsInterval > 0) this.#schedule(epoch, this.#settings.statsInterval);
  }
  /** Reports at the epoch and then every interval. Each wait is computed from the epoch, so that timer errors do not add up. */
  #schedule(epoch, interval) {
    const now = () => performance.timeOrigin + performance.now();
    const next = nextReport(epoch, interval, now());
    this.#timer = setTimeout(() => {
      if (now() < next) return this.#schedule(epoch, interval);
      this.#report().catch((error) => this.#failed(`no statistics available: ${messageOf(error)}`));
      this.#schedule(epoch, interval);
    }, next - now());
  }
  async #report() {
    const report = await this.#call?.stats();
    if (report) this.#signalling.send({ type: "stats", report });
  }
  async #stop() {
    this.#over = true;
    clearTimeout(this.#timer);
    try {
      await this.#report();
    } catch (error) {
      this.#signalling.send({ type: "log", message: `no final statistics available: ${messageOf(error)}`.slice(0, MAX_NOTE) });
    }
    await this.#ims?.close();
    this.#signalling.send({ type: "bye" });
    this.#end("The call is over.", false);
  }
  #failed(text3) {
    if (this.#over) return;
    this.#signalling.send({ type: "failed", message: text3.slice(0, MAX_NOTE) });
    this.screen.status(text3, true);
  }
  #end(text3, isError) {
    this.#over = true;
    clearTimeout(this.#timer);
    void this.#call?.close();
    this.#media?.stop();
    this.screen.status(text3, isError);
  }
};

// src/main.ts
var key = location.hash.slice(1);
var screen = {
  status(text3, isError = false) {
    const element = part("status", HTMLElement);
    element.textContent = text3;
    element.classList.toggle("error", isError);
  },
  local(stream) {
    part("local", HTMLVideoElement).srcObject = stream;
  },
  remote(stream, showVideo) {
    const element = showVideo ? part("remote", HTMLVideoElement) : part("remote-audio", HTMLAudioElement);
    element.srcObject = stream;
  }
};
var query = new URLSearchParams(location.search);
var role = query.get("role");
if ((role === "caller" || role === "callee") && key) {
  history.replaceState(null, "", location.pathname + location.search);
  document.body.dataset.view = "measured";
  part("videos", HTMLElement).hidden = false;
  part("settings", HTMLFormElement).hidden = true;
  new MeasuredCall(query.get("room") ?? "", role, key, screen);
} else {
  new ManualCall(screen, key);
}
