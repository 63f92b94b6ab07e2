"""Marks: what the script was doing, by the number of the next allocation."""
from __future__ import annotations

LIMIT = 4_000_000  # marks of one process; later ones are dropped and that is said


class Marks:
    """The lines of marks.tsv and labels.tsv, in the order they happened.

    They are kept as text: tuples would count for Python's garbage collector,
    which would then run at other moments than without us, and tensors in
    reference cycles would be freed at other moments too.
    """

    def __init__(self, counter) -> None:
        self._counter = counter
        self.rows: list = []  # device, count, kind, value, name
        self.labels: list = []  # device, count, category, pointer, bytes, name
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
            if count or kind in ("phase", "pool", "fraction"):
                rows.append("%d\t%d\t%s\t%s\t%s\n" % (d, count, kind, value, name))

    def enter(self, phase: str) -> None:
        """The script is in another phase from now on."""
        if phase != self.phase:
            self.phase = phase
            self.add("phase", phase)

    def label(self, device: int, category: str, pointer: int, size: int, name: str) -> None:
        """The block at pointer, live now, holds this."""
        if len(self.labels) < LIMIT:
            count = self._counter.read(device)
            self.labels.append("%d\t%d\t%s\t%x\t%d\t%s\n" % (device, count, category, pointer, size, clean(name)))

    def write(self, marks_path: str, labels_path: str) -> None:
        """Write both files, one line a mark."""
        for path, rows in ((marks_path, self.rows), (labels_path, self.labels)):
            with open(path, "w", encoding="utf-8", errors="replace") as file:
                file.writelines(rows)


def clean(name: str) -> str:
    """A name that cannot end its line or its field."""
    return name.replace("\t", " ").replace("\n", " ").replace("\r", " ")
