"""Writes down what FakeGPU's tracker counts, for a comparison block by block.

Put on PYTHONPATH as sitecustomize. PLIMSOLL_WATCH is the file to write when the process ends: the blocks that were
live when the tracker's allocated bytes were highest, and the segments when its reserved bytes were.
"""
from __future__ import annotations

import atexit
import importlib.abc
import importlib.machinery
import json
import os
import sys

TRACKER = "fakegpu.torch_patch"


class Watch:
    """The two moments, kept up to date by wrapping the tracker's methods."""

    def __init__(self) -> None:
        self.allocated = self.reserved = 0
        self.blocks: list = []
        self.segments: list = []

    def hook(self, cls) -> None:
        """Look after each allocation."""
        inner, watch = cls.allocate, self

        def allocate(self, *args, **kwargs):
            done = inner(self, *args, **kwargs)
            watch.look(self)
            return done

        cls.allocate = allocate

    def look(self, tracker) -> None:
        """Keep the moment when it is higher than any before."""
        if tracker._used[0] > self.allocated:
            self.allocated = tracker._used[0]
            self.blocks = [(r["bytes"], r.get("category") or "", r.get("shape")) for r in tracker._allocs.values()]
        if tracker._reserved[0] > self.reserved:
            self.reserved = tracker._reserved[0]
            self.segments = [s["size"] for s in tracker._segments[0]]

    def write(self) -> None:
        """Write what was kept, if this process is the one that trained."""
        if self.blocks:
            with open(os.environ["PLIMSOLL_WATCH"], "w") as file:
                json.dump(vars(self), file)


class Finder(importlib.abc.MetaPathFinder):
    """Hooks the tracker right after its module was run."""

    def find_spec(self, name, path, target=None):
        if name != TRACKER:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        run = spec.loader.exec_module

        def exec_module(module):
            run(module)
            watch = Watch()
            watch.hook(module._DeviceMemoryTracker)
            atexit.register(watch.write)

        spec.loader.exec_module = exec_module
        return spec


if os.environ.get("PLIMSOLL_WATCH"):
    sys.meta_path.insert(0, Finder())
