// What the settings ask of a sender. A browser that lacks one of it says so in a note; the call goes on.
import type { CallSettings } from "./generated/messages";
import { messageOf } from "./words";

type Note = (text: string) => void;
type Encoding = RTCRtpEncodingParameters & { codec?: RTCRtpCodec };

/** Puts the codec asked for first in what this end offers or answers (W3C webrtc-pc, setCodecPreferences). */
export function preferCodec(transceiver: RTCRtpTransceiver, settings: CallSettings, note: Note): void {
  const wanted = settings.video?.codec;
  if (!wanted || transceiver.receiver.track.kind !== "video") return;
  const codecs = RTCRtpReceiver.getCapabilities?.("video")?.codecs ?? [];
  const isWanted = (codec: RTCRtpCodec) => codec.mimeType.toLowerCase() === `video/${wanted}`;
  if (!codecs.some(isWanted)) return note(`This browser has no ${wanted.toUpperCase()}; it takes a codec of its own choice.`);
  if (!("setCodecPreferences" in transceiver)) return note("This browser does not let the codec be chosen.");
  try {
    transceiver.setCodecPreferences([...codecs.filter(isWanted), ...codecs.filter((codec) => !isWanted(codec))]);
  } catch (error) {
    note(`The codec could not be chosen: ${messageOf(error)}`);
  }
}

/** Sets the most that is sent, the priority and, once it is negotiated, the codec of what this end sends. */
export async function configure(sender: RTCRtpSender, settings: CallSettings, note: Note): Promise<void> {
  const kind = sender.track?.kind;
  if (!kind) return;
  const parameters = sender.getParameters();
  const [encoding] = parameters.encodings as Encoding[];
  // Before the first negotiation a browser may have none.
  if (!encoding) return;
  const before = JSON.stringify(encoding);
  const priority = kind === "video" ? settings.video?.priority : settings.audioPriority;
  if (priority) encoding.networkPriority = priority;
  if (kind === "video") {
    if (settings.video?.maxBitrate) encoding.maxBitrate = settings.video.maxBitrate;
    else delete encoding.maxBitrate;
    const wanted = parameters.codecs?.find((codec) => codec.mimeType.toLowerCase() === `video/${settings.video?.codec}`);
    if (wanted) encoding.codec = wanted;
  }
  if (JSON.stringify(encoding) === before) return;
  try {
    await sender.setParameters(parameters);
  } catch (error) {
    return note(`The sender's settings were not taken: ${messageOf(error)}`);
  }
  if (priority && sender.getParameters().encodings[0]?.networkPriority !== priority) {
    note("This browser does not mark packets by priority.");
  }
}
