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

/** Sets the priority, the most that is sent and, once it is negotiated, the codec; what a browser refuses leaves the others. */
export async function configure(sender: RTCRtpSender, settings: CallSettings, note: Note): Promise<void> {
  const kind = sender.track?.kind;
  if (!kind) return;
  const priority = kind === "video" ? settings.video?.priority : settings.audioPriority;
  await change(sender, "priority", note, (encoding) => {
    if (priority) encoding.networkPriority = priority;
    // The default (W3C webrtc-priority, section 3); some browsers have no such member.
    else if (encoding.networkPriority) encoding.networkPriority = "low";
  });
  const [taken] = sender.getParameters().encodings;
  if (priority && taken && taken.networkPriority !== priority) note("This browser does not mark packets by priority.");
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

/** Changes one thing of a sender, if there is anything to change. */
async function change(
  sender: RTCRtpSender,
  what: string,
  note: Note,
  edit: (encoding: Encoding, parameters: RTCRtpSendParameters) => void,
): Promise<void> {
  const parameters = sender.getParameters();
  const [encoding] = parameters.encodings as Encoding[];
  // Before the first negotiation a browser may have none.
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
