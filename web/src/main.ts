// The call page: by hand, or driven by a run when its address holds a seat and its key.
import { part } from "./dom";
import { HandCall } from "./hand";
import { MeasuredCall, type Screen } from "./measured";

const key = location.hash.slice(1);
// A seat's key is for this page alone: what the browser writes to its log names the page's address.
if (key) history.replaceState(null, "", location.pathname + location.search);

const screen: Screen = {
  status(text, wrong = false) {
    const place = part("status", HTMLElement);
    place.textContent = text;
    place.classList.toggle("wrong", wrong);
  },
  local(stream) {
    part("local", HTMLVideoElement).srcObject = stream;
  },
  remote(stream, picture) {
    const element = picture ? part("remote", HTMLVideoElement) : part("remote-sound", HTMLAudioElement);
    element.srcObject = stream;
  },
};

const query = new URLSearchParams(location.search);
const seat = query.get("seat");
if ((seat === "caller" || seat === "callee") && key) {
  document.body.dataset.stage = "measured";
  part("stage", HTMLElement).hidden = false;
  part("settings", HTMLFormElement).hidden = true;
  new MeasuredCall(query.get("room") ?? "", seat, key, screen);
} else {
  new HandCall(screen);
}
