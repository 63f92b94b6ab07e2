"""Where the script limits PyTorch to a share of the device's memory, which PyTorch's own recording does not say."""
from __future__ import annotations


class Fraction:
    """Marks each change of the limit, with the share."""

    def __init__(self, torch, marks) -> None:
        self._torch = torch
        self._marks = marks

    def watch(self) -> None:
        """Begin to mark."""
        inner = self._torch._C._cuda_setMemoryFraction

        def set_fraction(fraction, device):
            out = inner(fraction, device)
            self._marks.add("fraction", repr(float(fraction)), device=device)
            return out

        self._torch._C._cuda_setMemoryFraction = set_fraction
