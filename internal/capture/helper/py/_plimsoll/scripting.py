"""Lets torch.jit.script read PyTorch's functions as they are, without the checks of the small values."""
from __future__ import annotations

import functools


class Scripting:
    """Takes the mode away while TorchScript compiles."""

    def __init__(self, torch, mirror) -> None:
        self._jit = torch.jit
        self._mirror = mirror

    def hook(self) -> None:
        """Replace torch.jit.script."""
        inner, mirror = self._jit.script, self._mirror

        @functools.wraps(inner)
        def script(*args, **kwargs):
            place = mirror.lift()
            try:
                return inner(*args, **kwargs)
            finally:
                if place:
                    mirror.put_back(place)

        self._jit.script = script
