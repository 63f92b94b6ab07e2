"""Ends the run: after enough steps, at a time limit, with the script, by a signal; and writes what was seen."""
from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
import time
import traceback


class Ending:
    """Writes the results of this process once, at whichever end comes first."""

    def __init__(self, write, settings) -> None:
        self._write = write  # called with the fields that say how the run ended
        self._settings = settings
        self._lock = threading.RLock()
        self._done = self._writing = False
        self._exit = os._exit
        self._code = None
        self._exception = None
        self._owner = os.getpid()
        self.active = lambda: False  # True once this process has something to write

    def watch(self) -> None:
        """Be there at every end that Python can see."""
        sys.excepthook = self._hooked(sys.excepthook)
        self._wrap_exits()
        atexit.register(self.at_exit)
        import multiprocessing.util as util

        util.register_after_fork(self, Ending._finalize_in_child)
        Ending._finalize_in_child(self)

    def watch_signals(self) -> None:
        """There is something to write now: also at a SIGTERM that the script does not handle itself.

        Not before: Python runs a handler between two of its instructions, so
        one that waits for a lock, as idle workers do, never ends on SIGTERM.
        """
        if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            signal.signal(signal.SIGTERM, self._terminated)

    def limit(self, seconds: float) -> None:
        """End the process when seconds have passed, wherever its main thread is then."""
        timer = threading.Timer(max(seconds, 0.01), self.stop, ("timeout",))
        timer.daemon = True
        timer.start()

    def stop(self, end: str, code: int = 0) -> None:
        """Write, and end the process: no epilogue of the script runs."""
        if self.finish(end, code) or end != "timeout":  # a script that just ends keeps its own exit status
            self._flush()
            self._exit(code)

    def finish(self, end: str, code=None) -> bool:
        """Write the results, if that has not been done and there are any; True if they were written now."""
        with self._lock:
            if self._done or not self.active():
                return False
            self._done = self._writing = True
            try:
                self._write(end, code, self._exception)
            except Exception:  # the script's own end must not change
                sys.stderr.write("plimsoll: helper: results could not be written\n" + traceback.format_exc())
            self._writing = False
            return True

    def at_exit(self) -> None:
        """The interpreter is going down in good order."""
        value = getattr(sys, "last_value", None)  # a hook that another library put over ours
        if self._exception is None and self._code is None and value is not None:
            self.note(type(value), value, value.__traceback__)
        if self._exception is not None and self._exception["type"] == "KeyboardInterrupt":
            self.finish("signal", 128 + signal.SIGINT)
        elif self._exception is not None:
            oom = self._exception["type"].endswith("OutOfMemoryError")
            self.finish("oom" if oom else "exception", 1)
        elif self._code is not None:
            self.finish("exit", self._code)
        else:
            self.finish("script_end", 0)

    def forked(self) -> None:
        """This process is a child now, and its ends are its own."""
        self._lock = threading.RLock()
        self._done = self._writing = False
        self._exception = self._code = None
        if signal.getsignal(signal.SIGTERM) == self._terminated:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)

    def note(self, kind, value, trace) -> None:
        """Keep an exception that nobody catches."""
        if issubclass(kind, SystemExit):
            return
        self._exception = {
            "type": kind.__name__ if kind.__module__ == "builtins" else kind.__module__ + "." + kind.__name__,
            "message": str(value),
            "traceback": "".join(traceback.format_exception(kind, value, trace))[-20000:],
        }

    def _hooked(self, inner):
        def excepthook(kind, value, trace):
            self.note(kind, value, trace)
            inner(kind, value, trace)

        return excepthook

    def _wrap_exits(self) -> None:
        leave = sys.exit

        def exit(status=None):
            self._code = status if isinstance(status, int) else 0 if status is None else 1
            leave(status)

        sys.exit = exit

        def _exit(status):
            if os.getpid() != self._owner or not self._done:
                self.finish("exit", status)
            self._exit(status)

        os._exit = _exit

    def _terminated(self, number, frame) -> None:
        if self._writing:
            return  # the process is about to end anyway
        self.finish("signal", 128 + number)
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    def _finalize_in_child(self) -> None:
        """Children of multiprocessing leave without atexit, but they run finalizers."""
        import multiprocessing.util as util

        util.Finalize(None, self.at_exit, exitpriority=-100)

    def _flush(self) -> None:
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except Exception:
                pass


def clock() -> float:
    """Seconds, for differences."""
    return time.monotonic()
