// src/dom.ts
function part(id, kind) {
  const element = document.getElementById(id);
  if (!(element instanceof kind)) throw new Error(`the page has no ${kind.name} '${id}'`);
  return element;
}

// src/broker.ts
var SERVICE = "weir-page";
async function openSession({ user, region, specialised }, ask = fetch) {
  const headers = { "Content-Type": "application/json" };
  const body = JSON.stringify({ service: SERVICE, user, ...region && { region }, specialised });
  try {
    const answer = await ask("/broker/v1/sessions", { method: "POST", headers, body });
    if (answer.status === 404) return "This server has no broker: it is started with --broker FILE.";
    const said = await answer.json();
    if (answer.ok && isSession(said)) return said;
    return `The broker gives no relay: ${detailOf(said) ?? `status ${answer.status}`}.`;
  } catch {
    return "The broker does not answer.";
  }
}
function closeSession(session) {
  void fetch(`/broker/v1/sessions/${session.id}`, { method: "DELETE", keepalive: true }).catch(() => void 0);
}
function isSession(said) {
  if (typeof said !== "object" || said === null) return false;
  const { id, iceServers: iceServers2 } = said;
  return typeof id === "string" && /^[0-9a-f]+$/.test(id) && Array.isArray(iceServers2);
}
function detailOf(said) {
  if (typeof said !== "object" || said === null || !("detail" in said)) return null;
  return typeof said.detail === "string" ? said.detail : null;
}

// src/words.ts
var Trouble = class extends Error {
};
var DEVICES = {
  NotAllowedError: "The browser was not allowed to use the camera or microphone. Allow it in the address bar, then join again.",
  NotFoundError: "No camera or microphone was found. Connect one, or untick Picture or Sound.",
  NotReadableError: "The camera or microphone is in use by another program. Close that, then join again.",
  OverconstrainedError: "The camera cannot do this size or frame rate. Choose another.",
  AbortError: "The camera or microphone stopped. Try again."
};
function deviceWords(error) {
  if (error instanceof Trouble) return error.message;
  return DEVICES[nameOf(error)] ?? `Camera and microphone cannot be used: ${messageOf(error)}`;
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
  disconnected: "The connection is interrupted…",
  closed: "The call is over."
};
function stateWords(state, relay) {
  if (state !== "failed") return STATES[state] ?? state;
  return relay ? "No way to the other browser through the relay. Check the TURN server's address, user name and password." : "No direct way to the other browser. Check both networks, or call through a relay (TURN).";
}

// src/senders.ts
function preferCodec(transceiver, settings, note) {
  const wanted = settings.video?.codec;
  if (!wanted || transceiver.receiver.track.kind !== "video") return;
  const codecs = RTCRtpReceiver.getCapabilities?.("video")?.codecs ?? [];
  const isWanted = (codec) => codec.mimeType.toLowerCase() === `video/${wanted}`;
  if (!codecs.some(isWanted)) return note(`This browser has no ${wanted.toUpperCase()}; it takes a codec of its own choice.`);
  if (!("setCodecPreferences" in transceiver)) return note("This browser does not let the codec be chosen.");
  try {
    transceiver.setCodecPreferences([...codecs.filter(isWanted), ...codecs.filter((codec) => !isWanted(codec))]);
  } catch (error) {
    note(`The codec could not be chosen: ${messageOf(error)}`);
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
  const [taken] = sender.getParameters().encodings;
  if (priority2 && taken && taken.networkPriority !== priority2) note("This browser does not mark packets by priority.");
  if (kind !== "video") return;
  await change(sender, "highest rate", note, (encoding) => {
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
    note(`The sender's ${what} is not taken: ${messageOf(error)}`);
  }
}

// src/call.ts
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
  /** What the other end sends. */
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
  note = (text3) => {
    if (this.#notes.has(text3)) return;
    this.#notes.add(text3);
    this.listener.note(text3);
  };
  /** One step after the other: candidates wait for the description that they belong to. */
  #do(broken, step) {
    this.#work = this.#work.then(step).catch((error) => {
      if (this.#connection.signalingState === "closed") return;
      this.listener.failed(`The call cannot be made: ${broken} (${nameOf(error)}).`);
    });
  }
  /** Calls, as the one who offers. */
  offer() {
    this.#do("there is no offer", async () => {
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
  /** Takes what comes from the other end. */
  take(message) {
    this.#do(`the other end's ${message.type} is not taken`, async () => {
      if (message.type === "candidate") return this.#candidate(message.candidate);
      await this.#connection.setRemoteDescription(message);
      if (message.type === "offer") await this.#answer();
      await this.#configure();
    });
  }
  /** One that is refused is one way fewer; the call may find another. */
  async #candidate(candidate) {
    try {
      await this.#connection.addIceCandidate(candidate);
    } catch (error) {
      if (this.#connection.signalingState === "closed") return;
      this.note(`A candidate of the other end is not taken (${nameOf(error)}).`);
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
  /** Takes new caps and priorities while the call goes on; the rest of the settings is for the next. */
  reconfigure(settings) {
    this.settings = settings;
    this.#do("its settings are not taken", () => this.#configure());
  }
  /** `connectionState` */
  get state() {
    return this.#connection.connectionState;
  }
  /** `getStats`, with every member of every object. */
  async stats() {
    const at = performance.timeOrigin + performance.now();
    const report = await this.#connection.getStats();
    const stats = {};
    report.forEach((value) => stats[value.id] = { ...value });
    return { at, stats };
  }
  close() {
    this.#connection.onconnectionstatechange = null;
    this.#connection.close();
  }
};

// src/media.ts
var FILM_PATIENCE = 1e4;
async function acquire(settings, plain2) {
  if (!settings.sends || !settings.audio && !settings.video) return { stream: new MediaStream(), stop: () => {
  } };
  return settings.source === "film" ? film(settings) : devices(settings, plain2);
}
async function devices(settings, plain2) {
  const devices2 = navigator.mediaDevices;
  if (!devices2) throw new Trouble("This browser gives no camera or microphone to this address. Open the page as http://localhost.");
  const processing = { echoCancellation: !plain2, noiseSuppression: !plain2, autoGainControl: !plain2 };
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
    if (!capture) throw new Trouble("This browser cannot send a film. Choose camera and microphone.");
    const captured = capture.call(element);
    const kinds = [...settings.audio ? ["audio"] : [], ...settings.video ? ["video"] : []];
    await tracksOf(captured, kinds);
    const stream = new MediaStream(captured.getTracks().filter((track) => kinds.includes(track.kind)));
    return { stream, stop };
  } catch (error) {
    stop();
    if (error instanceof Trouble) throw error;
    throw new Trouble("The server has no film to send. Start it with --film FILE, or choose camera and microphone.");
  }
}
function tracksOf(stream, kinds) {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Trouble(`The film shows no ${missing().join(" and no ")}.`)), FILM_PATIENCE);
    const missing = () => kinds.filter((kind) => !stream.getTracks().some((track) => track.kind === kind));
    const look = () => {
      if (missing().length > 0) return;
      clearTimeout(late);
      resolve();
    };
    stream.addEventListener("addtrack", look);
    look();
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
function picture(width, height) {
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
  return values.flatMap((value, place) => {
    if (value === void 0) return [];
    const x = (first + place) * step;
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
    // Of RTCP where this end sends: Firefox gives 0 for the pair's.
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
  const direction = (old, flow, lostIsSent) => {
    const { width, height, codec } = flow;
    if (!old || seconds <= 0) return { width, height, codec, framesPerSecond: flow.framesPerSecond };
    const [bytes, packets, lost, frames2] = [
      flow.bytes - old.bytes,
      flow.packets - old.packets,
      flow.lost - old.lost,
      flow.frames - old.frames
    ];
    const sent = lostIsSent ? packets : packets + lost;
    return {
      width,
      height,
      codec,
      rate: bytes >= 0 ? bytes * 8 / seconds : void 0,
      // The other end's reports are older than our own counters: never more than all.
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
  #before;
  #plots = { sent: [], received: [], rtt: [] };
  /** Takes the next report. */
  show(report) {
    const now = snapshot(report);
    const values = rates(this.#before, now);
    this.#before = now;
    this.#direction("sent", values.sent);
    this.#direction("received", values.received);
    this.#path(values);
  }
  clear() {
    this.#before = void 0;
    this.#plots = { sent: [], received: [], rtt: [] };
    this.#direction("sent", {});
    this.#direction("received", {});
    this.#path({ sent: {}, received: {} });
  }
  #direction(name, values) {
    this.#set(`${name}-rate`, rate(values.rate));
    this.#set(`${name}-loss`, share(values.loss));
    this.#set(`${name}-picture`, picture(values.width, values.height));
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
    const place = this.root.querySelector(`[data-value="${name}"]`);
    if (place) place.textContent = text3;
  }
  #plot(name, value, words) {
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
    this.#set(`${name}-top`, known.length > 0 ? `most: ${words(Math.max(...known))}` : "");
  }
};

// src/parse.ts
var text2 = (value) => typeof value === "string";
var object = (value) => typeof value === "object" && value !== null;
var SHAPES = {
  welcome: { peer: (value) => typeof value === "boolean", settings: (value) => typeof value === "object" },
  "peer-joined": {},
  "peer-left": {},
  offer: { sdp: text2 },
  answer: { sdp: text2 },
  candidate: { candidate: object },
  bye: {},
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
  const right = Object.entries(shape).every(([name, is]) => name in message && is(message[name]));
  return right ? message : null;
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
var LEAST = 30;
var MOST = 1e5;
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
function inCall(joined, form) {
  const { max, priority: priority2, audiopriority } = form;
  return { ...joined, max, priority: priority2, audiopriority };
}
function toSettings(fields, password) {
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
    statsInterval: 0
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
    return "The ICE server's address looks like turn:192.0.2.1:3478 or stun:stun.example.org.";
  }
  if (url.startsWith("stun")) return [{ urls: [url] }];
  if (!fields.iceuser || !password) return "A TURN server needs a user name and a password.";
  return [{ urls: [url], username: fields.iceuser, credential: password }];
}

// src/signalling.ts
var FIRST_WAIT = 500;
var LAST_WAIT = 8e3;
var Signalling = class {
  constructor(room, hello, again, listener) {
    this.room = room;
    this.hello = hello;
    this.again = again;
    this.listener = listener;
    this.#open();
  }
  room;
  hello;
  again;
  listener;
  #socket = null;
  #timer;
  #wait = FIRST_WAIT;
  #closed = false;
  #open() {
    const socket = new WebSocket(`ws://${location.host}/ws/${encodeURIComponent(this.room)}`);
    this.#socket = socket;
    socket.onopen = () => this.send(this.hello);
    socket.onmessage = (event) => {
      const message = parseMessage(event.data);
      if (!message || this.#closed) return;
      if (message.type === "error") this.close();
      if (message.type === "welcome") this.#wait = FIRST_WAIT;
      this.listener.message(message);
    };
    socket.onclose = () => {
      if (this.#closed) return;
      this.listener.broken();
      if (this.again) this.#timer = setTimeout(() => this.#open(), this.#wait);
      this.#wait = Math.min(2 * this.#wait, LAST_WAIT);
    };
  }
  /** Sends, if there is a connection; what is lost with a broken one is said anew in the next. */
  send(message) {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message));
  }
  close() {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#socket?.close();
  }
};

// src/hand.ts
var PANEL_INTERVAL = 1e3;
var ALONE = "You are alone here. Send the other the link, or open it in a second tab.";
var HandCall = class {
  constructor(screen2) {
    this.screen = screen2;
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
  screen;
  #form = part("settings", HTMLFormElement);
  #panel = new Panel(part("panel", HTMLElement));
  #media = null;
  #signalling = null;
  #call = null;
  /** What the room was entered with; null in the lobby. */
  #joined = null;
  /** The call's; null until the room is entered. */
  #settings = null;
  /** Who asks the broker, so that the two ends of a room are two users. */
  #user = crypto.randomUUID();
  /** The relay that the broker has given. */
  #session = null;
  /** The server is gone and the call, which does not need it, goes on. */
  #alone = false;
  /** The other end's page is gone; a call that stands may yet outlast that. */
  #left = false;
  #fields() {
    const fields = { ...DEFAULTS };
    for (const name of Object.keys(DEFAULTS)) {
      const field = this.#form.elements.namedItem(name);
      if (field instanceof HTMLInputElement && field.type === "checkbox") fields[name] = field.checked ? "1" : "0";
      else if (field instanceof RadioNodeList || field instanceof HTMLInputElement || field instanceof HTMLSelectElement) fields[name] = field.value.trim();
    }
    return this.#joined ? inCall(this.#joined, fields) : fields;
  }
  /** Keeps the address and the form true, and gives a call the caps and priorities that have changed. */
  #changed() {
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
  #freeze(fields) {
    for (const fieldset of this.#form.querySelectorAll("fieldset")) {
      const frozen = this.#joined !== null && (this.#settings === null || fieldset.hasAttribute("data-fixed"));
      fieldset.disabled = frozen || fieldset.id === "picture" && fields.video === "0";
    }
  }
  async #join() {
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
      }
    });
    part("mute", HTMLButtonElement).focus();
  }
  /** Gets the relay, sound and picture; or what is wrong, for people. */
  async #prepare(fields, settings) {
    try {
      return await this.#relay(fields, settings) ?? await acquire(settings, false);
    } catch (error) {
      return deviceWords(error);
    }
  }
  /** Lets the broker choose the relay, if it is to; gives what is wrong, for people. */
  async #relay(fields, settings) {
    if (!isBrokered(fields)) return null;
    const session = await openSession({ user: this.#user, region: fields.region, specialised: fields.relay === "specialised" });
    if (typeof session === "string") return session;
    this.#session = session;
    settings.iceServers = session.iceServers;
    return null;
  }
  #giveBack() {
    if (this.#session) closeSession(this.#session);
    this.#session = null;
  }
  #take(message) {
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
        if (this.#alone && this.#call) this.screen.status(`${message.message} The call itself goes on.`, true);
        else this.#leave(message.message, true);
        break;
      case "start":
      case "stop":
        break;
    }
  }
  #begin(caller) {
    this.#drop();
    this.#left = false;
    const settings = this.#settings;
    const signalling = this.#signalling;
    if (!settings || !signalling || !this.#media) throw new Error("a call begins in a room");
    this.screen.status("Calling…");
    const call = new Call(settings, this.#media.stream, caller, (message) => signalling.send(message), {
      state: (state) => this.#state(state),
      note: (text3) => this.#note(text3),
      failed: (text3) => this.screen.status(text3, true)
    });
    this.#call = call;
    this.screen.remote(call.remote, true);
    this.#empty(false);
    return call;
  }
  #state(state) {
    if (state === "failed" && this.#left) return this.#gone();
    this.screen.status(stateWords(state, this.#settings?.relay ?? false), state === "failed");
  }
  #gone() {
    this.#drop();
    this.screen.status("The other has left. They can come back to this room.");
  }
  /** Ends the call and stays in the room. */
  #drop() {
    this.#call?.close();
    this.#call = null;
    this.#panel.clear();
    part("notes", HTMLUListElement).replaceChildren();
    this.screen.remote(new MediaStream(), true);
    this.#empty(true);
  }
  #leave(words, wrong = false) {
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
  #stage(name) {
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
  #empty(empty) {
    part("waiting", HTMLElement).hidden = !empty;
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
    const link = `${location.origin}/call?${toAddress({ ...this.#fields(), region: DEFAULTS.region })}`;
    try {
      await navigator.clipboard.writeText(link);
      this.#note("The link is copied.");
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
      call.note(`No statistics: ${messageOf(error)}`);
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
var LONGEST = 2e3;
var MeasuredCall = class {
  constructor(room, seat2, key2, screen2) {
    this.seat = seat2;
    this.screen = screen2;
    this.#signalling = new Signalling(room, { type: "hello", seat: seat2, key: key2 }, false, {
      message: (message) => this.#take(message),
      broken: () => this.#over || this.#end("The server is gone.", true)
    });
    addEventListener("error", (event) => this.#failed(`error in the page: ${event.message}`));
    addEventListener("unhandledrejection", (event) => this.#failed(`error in the page: ${messageOf(event.reason)}`));
  }
  seat;
  screen;
  #signalling;
  #settings = null;
  #media = null;
  #call = null;
  #timer;
  /** The run has said stop, or is gone: from now on nothing is news. */
  #over = false;
  #take(message) {
    if (this.#over) return;
    switch (message.type) {
      case "welcome":
        if (message.settings) void this.#prepare(message.settings);
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
      return this.#failed(deviceWords(error));
    }
    if (this.#over) return this.#media.stop();
    const send = (message) => this.#signalling.send(message);
    this.#call = new Call(settings, this.#media.stream, this.seat === "caller", send, {
      state: (state) => {
        if (this.#over) return;
        send({ type: "connection-state", state });
        this.screen.status(stateWords(state, settings.relay), state === "failed");
      },
      note: (message) => send({ type: "log", message: message.slice(0, LONGEST) }),
      failed: (message) => this.#failed(message)
    });
    if (settings.render) this.screen.local(this.#media.stream);
    this.screen.remote(this.#call.remote, settings.render);
    this.screen.status("Ready; waiting for the run.");
    send({ type: "ready" });
  }
  #start(epoch) {
    if (!this.#call || !this.#settings) return this.#failed("the run has started before this page was ready");
    this.screen.status("Calling…");
    if (this.seat === "caller") this.#call.offer();
    if (this.#settings.statsInterval > 0) this.#schedule(epoch, this.#settings.statsInterval);
  }
  /** Reports at the epoch and whole intervals after it: each wait is reckoned anew, so that none adds to the next. */
  #schedule(epoch, interval) {
    const now = () => performance.timeOrigin + performance.now();
    const next = nextReport(epoch, interval, now());
    this.#timer = setTimeout(() => {
      if (now() < next) return this.#schedule(epoch, interval);
      this.#report().catch((error) => this.#failed(`no statistics: ${messageOf(error)}`));
      this.#schedule(epoch, interval);
    }, next - now());
  }
  async #report() {
    if (this.#call) this.#signalling.send({ type: "stats", report: await this.#call.stats() });
  }
  async #stop() {
    this.#over = true;
    clearTimeout(this.#timer);
    try {
      await this.#report();
    } catch (error) {
      this.#signalling.send({ type: "log", message: `no last statistics: ${messageOf(error)}`.slice(0, LONGEST) });
    }
    this.#signalling.send({ type: "bye" });
    this.#end("The call is over.", false);
  }
  #failed(text3) {
    if (this.#over) return;
    this.#signalling.send({ type: "failed", message: text3.slice(0, LONGEST) });
    this.screen.status(text3, true);
  }
  #end(text3, wrong) {
    this.#over = true;
    clearTimeout(this.#timer);
    this.#call?.close();
    this.#media?.stop();
    this.screen.status(text3, wrong);
  }
};

// src/main.ts
var key = location.hash.slice(1);
if (key) history.replaceState(null, "", location.pathname + location.search);
var screen = {
  status(text3, wrong = false) {
    const place = part("status", HTMLElement);
    place.textContent = text3;
    place.classList.toggle("wrong", wrong);
  },
  local(stream) {
    part("local", HTMLVideoElement).srcObject = stream;
  },
  remote(stream, picture2) {
    const element = picture2 ? part("remote", HTMLVideoElement) : part("remote-sound", HTMLAudioElement);
    element.srcObject = stream;
  }
};
var query = new URLSearchParams(location.search);
var seat = query.get("seat");
if ((seat === "caller" || seat === "callee") && key) {
  document.body.dataset.stage = "measured";
  part("stage", HTMLElement).hidden = false;
  part("settings", HTMLFormElement).hidden = true;
  new MeasuredCall(query.get("room") ?? "", seat, key, screen);
} else {
  new HandCall(screen);
}
