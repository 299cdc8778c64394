// Applies the settings to the senders. If the browser does not support a setting, a note says so and the call continues.
import type { CallSettings } from "./generated/messages";
import { messageOf } from "./texts";

type Note = (text: string) => void;
type Encoding = RTCRtpEncodingParameters & { codec?: RTCRtpCodec };

/** Places the requested codec first in the offer or answer of this page (W3C webrtc-pc, setCodecPreferences). */
export function preferCodec(transceiver: RTCRtpTransceiver, settings: CallSettings, note: Note): void {
  const wanted = settings.video?.codec;
  if (!wanted || transceiver.receiver.track.kind !== "video") return;
  const codecs = RTCRtpReceiver.getCapabilities?.("video")?.codecs ?? [];
  const isWanted = (codec: RTCRtpCodec) => codec.mimeType.toLowerCase() === `video/${wanted}`;
  if (!codecs.some(isWanted)) return note(`This browser does not support ${wanted.toUpperCase()}; it chooses another codec.`);
  if (!("setCodecPreferences" in transceiver)) return note("This browser cannot choose the codec (no setCodecPreferences).");
  try {
    transceiver.setCodecPreferences([...codecs.filter(isWanted), ...codecs.filter((codec) => !isWanted(codec))]);
  } catch (error) {
    note(`The browser rejected the codec: ${messageOf(error)}`);
  }
}

/** Sets the priority, the maximum bitrate and, after it is negotiated, the codec. If the browser rejects one, the others still apply. */
export async function configure(sender: RTCRtpSender, settings: CallSettings, note: Note): Promise<void> {
  const kind = sender.track?.kind;
  if (!kind) return;
  const priority = kind === "video" ? settings.video?.priority : settings.audioPriority;
  await change(sender, "priority", note, (encoding) => {
    if (priority) encoding.networkPriority = priority;
    // The default (W3C webrtc-priority § 3); some browsers do not have this member.
    else if (encoding.networkPriority) encoding.networkPriority = "low";
  });
  const [applied] = sender.getParameters().encodings;
  if (priority && applied && applied.networkPriority !== priority) note("This browser does not mark packets (no networkPriority).");
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

/** Changes one parameter of a sender, if it differs. */
async function change(
  sender: RTCRtpSender,
  what: string,
  note: Note,
  edit: (encoding: Encoding, parameters: RTCRtpSendParameters) => void,
): Promise<void> {
  const parameters = sender.getParameters();
  const [encoding] = parameters.encodings as Encoding[];
  // Before the first negotiation, a browser may have no encoding.
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
