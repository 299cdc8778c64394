"""Runs the tasks of `weir sweep --on ray` on a Ray cluster.

`weir` starts this program and talks to it in JSON, one object per line.

Standard input: first the job (`address`, `program`, `files`, `arguments`, `expected`), then one
task per line (`first`, `count`: the numbers of its runs). It ends after the last task.

Standard output: `ready` once the cluster answers, then one line per run, as `weir sweep-task`
prints it, `finished` after the last task, or `failed` with the reason.

A task starts the same program on a worker of the cluster. The program and the files of the sweep
are sent once, as objects of Ray. A task whose worker or program is killed is run again by Ray.
"""

import json
import os
import subprocess
import sys
import tempfile

# How often Ray runs a task again whose worker or program was killed. A program that kills its
# worker each time, for example for want of memory, must come to an end.
RETRIES = 10
# The tasks under way per processor of the cluster: one runs, and one is there when it ends.
TASKS_PER_CPU = 2
# The exit code of the program after a signal that it handles.
INTERRUPTED = 130


class Killed(Exception):
    """The program was killed by a signal."""


class Refused(Exception):
    """The program cannot run the task, or is not the program that was sent."""


def task(program, files, arguments, expected, first, count):
    """Runs `count` runs from number `first` on, and returns the lines about them."""
    with tempfile.TemporaryDirectory(prefix="weir-ray-") as folder:
        path = os.path.join(folder, "weir")
        with open(path, "wb") as file:
            file.write(program)
        os.chmod(path, 0o700)
        for name, text in files.items():
            place = os.path.join(folder, "files", name)
            os.makedirs(os.path.dirname(place), exist_ok=True)
            with open(place, "w", encoding="utf-8") as file:
                file.write(text)
        os.makedirs(os.path.join(folder, "files"), exist_ok=True)
        command = [path, *arguments, "--first", str(first), "--count", str(count)]
        done = subprocess.run(
            command,
            cwd=os.path.join(folder, "files"),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
    if done.returncode < 0 or done.returncode == INTERRUPTED:
        raise Killed(f"exit code {done.returncode}")
    if done.returncode != 0:
        raise Refused(done.stderr.strip() or f"exit code {done.returncode}")
    head, *lines = done.stdout.splitlines()
    if json.loads(head) != expected:
        raise Refused("its sweep or model differs from that of this machine")
    if len(lines) != count:
        raise Refused(f"{len(lines)} lines instead of {count}")
    return lines


def main():
    """Answers on standard output, which Ray prints to as well: it gets standard error instead."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def answer(**fields):
        answers.write(json.dumps(fields) + "\n")
        answers.flush()

    try:
        serve(answers, answer)
    except BrokenPipeError:
        # The program that asked is gone.
        os._exit(1)
    except Exception as error:  # pylint: disable=broad-except
        # The errors of tasks have the traceback of the worker in front of the reason.
        lines = str(error).strip().splitlines() or [type(error).__name__]
        answer(failed=lines[-1])


def serve(answers, answer):
    """Passes the tasks to the cluster, and the lines about their runs back."""
    job = json.loads(sys.stdin.readline())
    token = os.path.join(os.path.expanduser("~"), ".ray", "auth_token")
    has_token = "RAY_AUTH_TOKEN" in os.environ or "RAY_AUTH_TOKEN_PATH" in os.environ
    if has_token or os.path.exists(token):
        os.environ.setdefault("RAY_AUTH_MODE", "token")
    try:
        import ray
    except ImportError as error:
        hint = "run 'pip install ray', or install the extra weir[ray]"
        answer(failed=f"{sys.executable} cannot import ray ({error}); {hint}")
        return
    ray.init(address=job["address"], log_to_driver=False, logging_level="error")
    cpus = int(ray.cluster_resources().get("CPU", 0))
    authentication = os.environ.get("RAY_AUTH_MODE", "disabled")
    answer(ready={"ray": ray.__version__, "cpus": cpus, "authentication": authentication})
    with open(job["program"], "rb") as file:
        program = ray.put(file.read())
    files = ray.put(job["files"])
    run = ray.remote(num_cpus=1, max_retries=RETRIES, retry_exceptions=[Killed])(task)
    tasks = map(json.loads, sys.stdin)
    waiting = []
    while True:
        while len(waiting) < max(1, cpus) * TASKS_PER_CPU:
            one = next(tasks, None)
            if one is None:
                break
            numbers = (one["first"], one["count"])
            waiting.append(
                run.remote(program, files, job["arguments"], job["expected"], *numbers)
            )
        if not waiting:
            break
        done, waiting = ray.wait(waiting, num_returns=1)
        for lines in map(ray.get, done):
            answers.write("".join(line + "\n" for line in lines))
        answers.flush()
    answer(finished=True)


if __name__ == "__main__":
    main()
