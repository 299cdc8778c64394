// Sound and picture.
import type { CallSettings } from "./generated/messages";
import { Trouble } from "./words";

/** Milliseconds that a film may take to show its tracks. */
const FILM_PATIENCE = 10_000;

/** What a page sends, and how to let it go. */
export interface Media {
  stream: MediaStream;
  stop(): void;
}

type Capturing = HTMLVideoElement & { captureStream?(): MediaStream; mozCaptureStream?(): MediaStream };

/** Gets what the settings say; an empty stream if nothing is sent. `plain`: without the browser's voice processing. */
export async function acquire(settings: CallSettings, plain: boolean): Promise<Media> {
  if (!settings.sends || (!settings.audio && !settings.video)) return { stream: new MediaStream(), stop: () => {} };
  return settings.source === "film" ? film(settings) : devices(settings, plain);
}

async function devices(settings: CallSettings, plain: boolean): Promise<Media> {
  // Undefined where the page is not served securely; loopback counts as secure.
  const devices = navigator.mediaDevices as MediaDevices | undefined;
  if (!devices) throw new Trouble("This browser gives no camera or microphone to this address. Open the page as http://localhost.");
  const processing = { echoCancellation: !plain, noiseSuppression: !plain, autoGainControl: !plain };
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
  // Some browsers do not go on with a film that is not in the page.
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
    const kinds = [...(settings.audio ? ["audio"] : []), ...(settings.video ? ["video"] : [])];
    await tracksOf(captured, kinds);
    const stream = new MediaStream(captured.getTracks().filter((track) => kinds.includes(track.kind)));
    return { stream, stop };
  } catch (error) {
    stop();
    if (error instanceof Trouble) throw error;
    throw new Trouble("The server has no film to send. Start it with --film FILE, or choose camera and microphone.");
  }
}

function tracksOf(stream: MediaStream, kinds: string[]): Promise<void> {
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
