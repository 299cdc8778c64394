// The call page: a manual call, or a measured call if the address contains a role and its key.
import { part } from "./dom";
import { ManualCall } from "./manual";
import { MeasuredCall, type Screen } from "./measured";

const key = location.hash.slice(1);

const screen: Screen = {
  status(text, isError = false) {
    const element = part("status", HTMLElement);
    element.textContent = text;
    element.classList.toggle("error", isError);
  },
  local(stream) {
    part("local", HTMLVideoElement).srcObject = stream;
  },
  remote(stream, showVideo) {
    const element = showVideo ? part("remote", HTMLVideoElement) : part("remote-audio", HTMLAudioElement);
    element.srcObject = stream;
  },
};

const query = new URLSearchParams(location.search);
const role = query.get("role");
if ((role === "caller" || role === "callee") && key) {
  // Removes the key from the address, because the browser's log contains the address.
  history.replaceState(null, "", location.pathname + location.search);
  document.body.dataset.view = "measured";
  part("videos", HTMLElement).hidden = false;
  part("settings", HTMLFormElement).hidden = true;
  new MeasuredCall(query.get("room") ?? "", role, key, screen);
} else {
  new ManualCall(screen, key);
}
