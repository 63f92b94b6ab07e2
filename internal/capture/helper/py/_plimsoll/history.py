"""PyTorch's own allocation history: on from before the first allocation until the end."""
from __future__ import annotations

import contextlib
import pickle
import sys


class History:
    """Starts the recording when CUDA comes up, and keeps the script from stopping it."""

    def __init__(self, torch, max_entries: int, stacks: str = "python") -> None:
        self._torch = torch
        self._entries = max_entries
        self._stacks = stacks

    def start(self) -> None:
        """Record from now on. CUDA must be up."""
        memory = self._torch.cuda.memory
        if hasattr(self._torch._C, "_cuda_record_memory_history"):  # from PyTorch 2.1
            memory._record_memory_history(enabled="all", context="alloc", stacks=self._stacks, max_entries=self._entries)
        else:
            for device in range(self._torch.cuda.device_count()):
                memory._record_memory_history(
                    True, trace_alloc_max_entries=self._entries, trace_alloc_record_context=True, device=device
                )
        self._keep()

    def dump(self, path: str) -> None:
        """Write the recording, the file that torch.cuda.memory._dump_snapshot writes."""
        with self._nothing_compiled():
            snapshot = self._torch.cuda.memory._snapshot()
        with open(path, "wb") as file:
            pickle.dump(snapshot, file, protocol=4)

    @contextlib.contextmanager
    def _nothing_compiled(self):
        """PyTorch looks for compiled code to name its lines, and the look alone would import all of torch.compile."""
        if "torch._inductor" in sys.modules:
            yield
            return
        self._torch._inductor = None
        try:
            yield
        finally:
            del self._torch._inductor

    def _keep(self) -> None:
        """A script that records history itself must neither clear nor stop this one."""
        for name in ("_cuda_record_memory_history", "_cuda_record_memory_history_legacy", "_cuda_recordMemoryHistory"):
            if hasattr(self._torch._C, name):
                setattr(self._torch._C, name, lambda *args, **kwargs: None)
