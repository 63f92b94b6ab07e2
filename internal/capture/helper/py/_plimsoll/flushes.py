"""Where the script gives PyTorch's cache back to the driver, which PyTorch's own recording does not say."""
from __future__ import annotations

# The doors to the allocator's emptyCache; torch.cuda.graph calls it before it captures.
DOORS = ("_cuda_emptyCache", "_accelerator_emptyCache")


class Flushes:
    """Marks each call with the number of frees before it: a flush gives back what was free at the time."""

    def __init__(self, torch, marks) -> None:
        self._torch = torch
        self._marks = marks
        self._base: dict = {}

    def watch(self, devices) -> None:
        """Begin to mark, on devices where nothing was freed since the recording began."""
        self._base = {d: self._freed(d) for d in devices}
        for name in DOORS:
            inner = getattr(self._torch._C, name, None)
            if inner is not None:
                setattr(self._torch._C, name, self._marked(inner))

    def _marked(self, inner):
        def empty_cache(*args, **kwargs):
            for device, base in self._base.items():
                self._marks.add("empty_cache", self._freed(device) - base, device=device)
            return inner(*args, **kwargs)

        return empty_cache

    def _freed(self, device: int) -> int:
        return self._torch._C._cuda_memoryStats(device)["allocation"]["all"]["freed"]
