"""Marks: what the script was doing, by the number of the next allocation."""
from __future__ import annotations

LIMIT = 4_000_000  # marks of one process; later ones are dropped and that is said


class Marks:
    """The lines of marks.tsv and labels.tsv, in the order they happened."""

    def __init__(self, counter) -> None:
        self._counter = counter
        self.rows: list = []  # (device, count, kind, value, name)
        self.labels: list = []  # (device, count, category, pointer, bytes, name)
        self.dropped = 0
        self.phase = "load"

    def add(self, kind: str, value, name: str = "", device=None) -> None:
        """Note something now, on one device or on all that have allocated."""
        rows, read = self.rows, self._counter.read
        if len(rows) >= LIMIT:
            self.dropped += 1
            return
        for d in self._counter.devices if device is None else (device,):
            count = read(d)
            if count or kind == "phase":
                rows.append((d, count, kind, value, name))

    def enter(self, phase: str) -> None:
        """The script is in another phase from now on."""
        if phase != self.phase:
            self.phase = phase
            self.add("phase", phase)

    def label(self, device: int, category: str, pointer: int, size: int, name: str) -> None:
        """The block at pointer, live now, holds this."""
        if len(self.labels) < LIMIT:
            self.labels.append((device, self._counter.read(device), category, pointer, size, name))

    def write(self, marks_path: str, labels_path: str) -> None:
        """Write both files, one line a mark."""
        with open(marks_path, "w", encoding="utf-8") as file:
            for device, count, kind, value, name in self.rows:
                file.write("%d\t%d\t%s\t%s\t%s\n" % (device, count, kind, value, clean(name)))
        with open(labels_path, "w", encoding="utf-8") as file:
            for device, count, category, pointer, size, name in self.labels:
                file.write("%d\t%d\t%s\t%x\t%d\t%s\n" % (device, count, category, pointer, size, clean(name)))


def clean(name: str) -> str:
    """A name that cannot end its line or its field."""
    return name.replace("\t", " ").replace("\n", " ").replace("\r", " ")
