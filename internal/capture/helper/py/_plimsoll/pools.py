"""Where allocations go to a private pool: CUDA graphs under capture, and memory pools in use.

Events of PyTorch's own recording name their pool only in the newest releases.
"""
from __future__ import annotations

import functools
import inspect

BEGINS = ("_cuda_beginAllocateToPool", "_cuda_beginAllocateCurrentStreamToPool", "_cuda_beginAllocateCurrentThreadToPool")
ENDS = ("_cuda_endAllocateToPool", "_cuda_endAllocateCurrentStreamToPool")


class Pools:
    """Marks each change of the pool that a device allocates from."""

    def __init__(self, torch, marks) -> None:
        self._torch = torch
        self._marks = marks
        self._open: dict = {}  # device -> pools in use, the newest last
        self._captures = 0
        self._under_way: dict = {}  # graph -> (device, pool)
        self._known: dict = {}  # PyTorch's id of a graph's pool -> ours

    def watch(self) -> None:
        """Begin to mark."""
        graph = self._torch.cuda.graphs.CUDAGraph
        graph.capture_begin = self._capture(graph.capture_begin)
        last = "capture_end_pre" if hasattr(graph, "capture_end_pre") else "capture_end"
        setattr(graph, last, self._captured(getattr(graph, last)))
        for names, wrapped in ((BEGINS, self._begins), (ENDS, self._ends)):
            for name in names:
                for module in (self._torch._C, self._torch.cuda.memory):
                    inner = vars(module).get(name)
                    if inner is not None:
                        setattr(module, name, wrapped(inner))

    def _capture(self, inner):
        signature = inspect.signature(inner)

        @functools.wraps(inner)
        def capture_begin(graph, *args, **kwargs):
            out = inner(graph, *args, **kwargs)
            given = signature.bind(graph, *args, **kwargs).arguments.get("pool")
            device = self._torch.cuda.current_device()
            self._captures += 1  # PyTorch numbers them so, but tells the number at the end only
            pool = (self._captures, 0) if given is None else self._known.get(tuple(given), tuple(given))
            self._under_way[graph] = device, pool
            self._enter(device, pool)
            return out

        return capture_begin

    def _captured(self, inner):
        @functools.wraps(inner)
        def capture_end(graph, *args, **kwargs):
            device, pool = self._under_way.pop(graph, (0, (0, 0)))
            self._leave(device, pool)
            out = inner(graph, *args, **kwargs)
            self._known[tuple(graph.pool())] = pool
            return out

        return capture_end

    def _begins(self, inner):
        def begin(device, *rest):
            out = inner(device, *rest)
            self._enter(device, rest[-1])
            return out

        return begin

    def _ends(self, inner):
        def end(device, pool):
            self._leave(device, pool)
            return inner(device, pool)

        return end

    def _enter(self, device: int, pool) -> None:
        self._open.setdefault(device, []).append(tuple(pool))
        self._mark(device)

    def _leave(self, device: int, pool) -> None:
        pools = self._open.get(device, [])
        if tuple(pool) in pools:
            pools.remove(tuple(pool))
            self._mark(device)

    def _mark(self, device: int) -> None:
        pools = self._open[device]
        self._marks.add("pool", len(pools), "%d.%d" % pools[-1] if pools else "", device=device)
