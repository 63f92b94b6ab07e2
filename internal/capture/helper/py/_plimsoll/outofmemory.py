"""Out-of-memory errors, also those that the script catches."""
from __future__ import annotations


class OutOfMemory:
    """Keeps each error's request and state, and its text where it was seen."""

    def __init__(self, torch, marks, counter, notes) -> None:
        self._torch = torch
        self._marks = marks
        self._counter = counter
        self._notes = notes
        self._seen: list = []

    def watch(self) -> None:
        """Be told by the allocator, before it raises."""
        attach = getattr(self._torch._C, "_cuda_attach_out_of_memory_observer", None)
        if attach is None:
            attach = getattr(self._torch._C, "_cuda_attachOutOfMemoryObserver", None)
        if attach is not None:
            attach(self._observed)

    def first(self, exception) -> dict | None:
        """The first error, or None."""
        text = exception["message"] if exception and exception["type"].endswith("OutOfMemoryError") else ""
        if not self._seen:
            return {"message": text, "device": 0} if text else None
        entry = self._seen[0]
        if text and len(self._seen) == 1:
            entry["message"] = text
        return entry

    def all(self) -> list:
        """Every error, in order."""
        return self._seen

    def raised(self, error) -> None:
        """An error went past the helper: its text belongs to the last one observed."""
        if self._seen and not self._seen[-1]["message"]:
            self._seen[-1]["message"] = str(error)

    def _observed(self, device: int, size: int, total: int, free: int) -> None:
        """Called with the allocator's lock given up and the error not yet raised."""
        if len(self._seen) >= 1000:
            return
        file, line = self._notes.line()
        allocated, reserved = self._counter.peaks(device)
        self._seen.append(
            {
                "message": "",
                "device": device,
                "requested": size,
                "total": total,
                "free": free,
                "allocated_peak": allocated,
                "reserved_peak": reserved,
                "phase": self._marks.phase,
                "rounds": 0,
                "file": file,
                "line": line,
            }
        )
        self._marks.add("note", "oom", "", device)
