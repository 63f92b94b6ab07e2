"""Lines of the user's code where the device made the host wait, or where values decide sizes."""
from __future__ import annotations

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


class Notes:
    """Counts by operator and line."""

    def __init__(self, torch) -> None:
        self._skip = (os.path.dirname(os.path.abspath(torch.__file__)) + os.sep, HERE)
        self._lines: dict = {}  # code object file -> True when it is the user's own
        self.syncs: dict = {}  # (operator, file, line) -> count
        self.data: dict = {}  # (operator, file, line) -> [count, exact]
        self.writes: list = []
        self._written: dict = {}  # (action, what, path) -> its entry in writes
        self.warnings: dict = {}  # code -> message

    def sync(self, operator: str) -> None:
        """A value was read back."""
        key = (operator,) + self.line()
        self.syncs[key] = self.syncs.get(key, 0) + 1

    def dependent(self, operator: str, exact: bool) -> None:
        """A result's size depended on values; exact when those were known."""
        key = (operator,) + self.line()
        entry = self.data.setdefault(key, [0, True])
        entry[0] += 1
        entry[1] = entry[1] and exact

    def wrote(self, action: str, what: str, path: str) -> None:
        """The script would have changed something."""
        key = action, what, path
        entry = self._written.get(key)
        if entry is not None:
            entry["count"] += 1
        elif len(self.writes) < 10000:
            entry = self._written[key] = {"action": action, "what": what, "path": path, "count": 1}
            self.writes.append(entry)

    def warn(self, code: str, message: str) -> None:
        """Something that qualifies the result; the first message of a code is kept."""
        self.warnings.setdefault(code, message)

    def line(self) -> tuple:
        """File and line of the innermost frame that is the user's own, else of the innermost outside torch."""
        frame = sys._getframe(1)
        outside = None
        while frame is not None:
            file = frame.f_code.co_filename
            own = self._lines.get(file)
            if own is None:
                own = self._lines[file] = self._kind(file)
            if own == 2:
                return file, frame.f_lineno
            if own == 1 and outside is None:
                outside = file, frame.f_lineno
            frame = frame.f_back
        return outside or ("", 0)

    def _kind(self, file: str) -> int:
        """0: torch or this helper, 1: another library, 2: the user's own."""
        if file.startswith(self._skip) or file.startswith("<"):
            return 0
        if os.sep + "site-packages" + os.sep in file or os.sep + "dist-packages" + os.sep in file:
            return 1
        if file.startswith(os.path.dirname(os.__file__) + os.sep):
            return 1
        return 2
