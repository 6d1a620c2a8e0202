"""Work in a child process, which begins as a copy of this one: it imports nothing again."""

from __future__ import annotations

import contextlib
import json
import os
import signal
from collections.abc import Callable
from typing import Any


def forked(work: Callable[[], Any], seconds: int) -> Any:
    """The result of some work in a child process, as JSON; None if it does not end well."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        signal.alarm(0)
        status = 1
        with contextlib.suppress(BaseException), open(writing, "w", encoding="utf-8") as pipe:
            json.dump(work(), pipe)
            status = 0
        os._exit(status)
    os.close(writing)
    before = signal.signal(signal.SIGALRM, lambda *_: os.kill(child, signal.SIGKILL))
    signal.alarm(seconds)
    with open(reading, encoding="utf-8") as pipe:
        said = pipe.read()
    os.waitpid(child, 0)
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)
    with contextlib.suppress(ValueError):
        return json.loads(said)
    return None
