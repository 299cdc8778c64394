// The media that a page sends.
import type { CallSettings } from "./generated/messages";
import { PageError } from "./texts";

/** The time limit for the film to provide its tracks, milliseconds. */
const FILM_TIMEOUT = 10_000;

/** The media that a page sends; `stop` releases the devices or the film. */
export interface Media {
  stream: MediaStream;
  stop(): void;
}

type Capturing = HTMLVideoElement & { captureStream?(): MediaStream; mozCaptureStream?(): MediaStream };

/** Gets the media of the settings; an empty stream if nothing is sent. `unprocessed` switches off the audio processing of the browser. */
export async function acquire(settings: CallSettings, unprocessed: boolean): Promise<Media> {
  if (!settings.sends || (!settings.audio && !settings.video)) return { stream: new MediaStream(), stop: () => {} };
  return settings.source === "film" ? film(settings) : devices(settings, unprocessed);
}

async function devices(settings: CallSettings, unprocessed: boolean): Promise<Media> {
  // Undefined if the page is not a secure context; loopback addresses are secure.
  const devices = navigator.mediaDevices as MediaDevices | undefined;
  if (!devices) throw new PageError("This browser does not allow camera and microphone at this address. Open the page as http://localhost.");
  const processing = { echoCancellation: !unprocessed, noiseSuppression: !unprocessed, autoGainControl: !unprocessed };
  const { video } = settings;
  const stream = await devices.getUserMedia({
    audio: settings.audio && processing,
    video: video && {
      width: { ideal: video.width },
      height: { ideal: video.height },
      frameRate: { ideal: video.frameRate },
    },
  } as MediaStreamConstraints);
  return { stream, stop: () => stream.getTracks().forEach((track) => track.stop()) };
}

async function film(settings: CallSettings): Promise<Media> {
  const element: Capturing = document.createElement("video");
  Object.assign(element, { src: "/media/film.webm", loop: true, muted: true, playsInline: true });
  element.className = "film";
  element.setAttribute("aria-hidden", "true");
  // Some browsers pause a video element that is not in the document.
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
    const kinds = [...(settings.audio ? ["audio"] : []), ...(settings.video ? ["video"] : [])];
    await tracksOf(captured, kinds);
    const stream = new MediaStream(captured.getTracks().filter((track) => kinds.includes(track.kind)));
    return { stream, stop };
  } catch (error) {
    stop();
    if (error instanceof PageError) throw error;
    throw new PageError("The server has no film to send. Start it with --film FILE, or choose camera and microphone.");
  }
}

function tracksOf(stream: MediaStream, kinds: string[]): Promise<void> {
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
