"""A controller outside Weir, as a start for your own: weir judge "external:python3 controller.py".

It lowers its rate when packets are lost or wait longer than before, else raises it slowly.
The messages are described in docs/guides/judge.md.
"""

import json
import sys


def main() -> None:
    rate = low = high = 0.0
    base = float("inf")  # the smallest delay so far, with the offset of the receiver's clock
    changed = 0.0
    for line in sys.stdin:
        message = json.loads(line)
        queued = 0.0
        if message["type"] == "configure":
            rate, low, high = (message[key] for key in ("start_rate", "min_rate", "max_rate"))
        elif message["type"] == "feedback" and message["feedback"]["kind"] == "packets":
            results = message["feedback"]["results"]
            delays = [r["arrival"] - r["sent"] for r in results if r["arrival"] is not None]
            lost = (len(results) - len(delays)) / max(len(results), 1)
            if delays:
                base = min(base, *delays)
                queued = sum(delays) / len(delays) - base
            if (lost > 0.1 or queued > 0.05) and message["now"] - changed > 0.3:
                rate, changed = rate * 0.85, message["now"]
            elif queued < 0.02 and lost <= 0.1:
                rate *= 1.01
            rate = min(max(rate, low), high)
        answer = {"target_rate": rate, "signals": {"queued": queued}}
        if message["type"] == "configure":
            answer["sent"] = "never"  # the feedback repeats when each packet left
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
