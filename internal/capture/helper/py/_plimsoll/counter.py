"""How many allocations a device has made: the clock that all marks are read from."""
from __future__ import annotations

import ctypes
import os
import struct

OBJECT_BYTES = 1 << 16  # how much of PyTorch's allocator is searched, and of each of its devices
PAGE_BYTES = 4096
ALLOCATOR = "_ZN3c104cuda20CUDACachingAllocator9allocatorE"  # std::atomic<CUDAAllocator*>, c10/cuda/CUDACachingAllocator.h


class Counter:
    """Counts of one process, per device, from the moment the recording began.

    PyTorch's own statistics give the count in some 11 microseconds, since they
    build a dictionary. The same 64-bit number is read in place once it was
    found; where it is not found, or ever disagrees, the statistics are asked.
    """

    def __init__(self, torch) -> None:
        self._stats = torch._C._cuda_memoryStats
        self._library = os.path.join(os.path.dirname(torch.__file__), "lib", "libc10_cuda.so")
        self._count = torch.cuda.device_count
        self._cells: dict = {}  # device -> c_int64 in the allocator's own statistics
        self._tries: dict = {}  # device -> searches that found nothing
        self._base: dict = {}
        self._peaks: dict = {}  # device -> largest (allocated, reserved) before a reset by the script
        self.devices: list = []

    def begin(self) -> None:
        """Take the counts of now as zero."""
        self.devices = list(range(self._count()))
        self._base = {d: self._raw(d) for d in self.devices}

    def read(self, device: int) -> int:
        """Allocations on a device since begin, the index of the next one."""
        cell = self._cells.get(device)
        if cell is not None:
            return cell.value - self._base[device]
        raw = self._raw(device)
        if raw > 2 and self._tries.get(device, 0) < 3:
            self._find(device)
        return raw - self._base[device]

    def stats(self, device: int) -> dict:
        """PyTorch's statistics, nested as its C++ gives them."""
        return self._stats(device)

    def peaks(self, device: int) -> tuple:
        """Largest allocated and reserved bytes, whatever the script reset in between."""
        stats = self._stats(device)
        now = stats["allocated_bytes"]["all"]["peak"], stats["reserved_bytes"]["all"]["peak"]
        was = self._peaks.get(device, (0, 0))
        return max(now[0], was[0]), max(now[1], was[1])

    def check(self) -> bool:
        """Compare what is read in place with the statistics; forget the places if they differ."""
        for device, cell in list(self._cells.items()):
            if cell.value != self._raw(device):
                self._cells.clear()
                self._tries = dict.fromkeys(self.devices, 3)
                return False
        return True

    def keep_through_resets(self, torch) -> None:
        """Let the script reset statistics without loss to ours."""
        for name in ("_cuda_resetPeakMemoryStats", "_accelerator_resetPeakStats"):
            self._before(torch._C, name, self._note_peaks)
        for name in ("_cuda_resetAccumulatedMemoryStats", "_accelerator_resetAccumulatedStats"):
            self._before(torch._C, name, self._note_counts)

    def _before(self, owner, name, note) -> None:
        inner = getattr(owner, name, None)
        if inner is None:
            return

        def reset(device, *rest):
            if device in self._base:
                note(device)
            return inner(device, *rest)

        setattr(owner, name, reset)

    def _note_peaks(self, device) -> None:
        self._peaks[device] = self.peaks(device)

    def _note_counts(self, device) -> None:
        self._base[device] -= self._raw(device)

    def _raw(self, device: int) -> int:
        return self._stats(device)["allocation"]["all"]["allocated"]

    def _find(self, device: int) -> None:
        self._tries[device] = self._tries.get(device, 0) + 1
        try:
            place = self._search(device)
        except (OSError, ValueError, AttributeError, KeyError, struct.error):
            self._tries[device] = 3
            return
        if place:
            self._cells[device] = ctypes.c_int64.from_address(place)

    def _search(self, device: int) -> int:
        """Address of allocation.all.allocated, or 0.

        The allocator keeps a vector of its devices; a device keeps its
        statistics as twelve adjacent numbers: current, peak, allocated and
        freed, for all, small and large blocks. Memory is read through the
        kernel, so that a wrong guess is an error and not a crash.
        """
        allocator = ctypes.c_size_t.in_dll(ctypes.CDLL(self._library), ALLOCATOR).value
        fd = os.open("/proc/self/mem", os.O_RDONLY)
        try:
            memory = readable(fd, allocator)
            words = struct.unpack("%dQ" % (len(memory) // 8), memory[: len(memory) // 8 * 8])
            wanted = self._pattern(device)
            for begin, end, room in zip(words, words[1:], words[2:]):
                if end - begin != 8 * len(self.devices) or not begin or room < end:
                    continue
                try:
                    (owner,) = struct.unpack("Q", os.pread(fd, 8, begin + 8 * device))
                    found = readable(fd, owner).find(wanted) if owner else -1
                except (OSError, OverflowError, struct.error):
                    continue
                if found >= 0:
                    return owner + found + 16
        finally:
            os.close(fd)
        return 0

    def _pattern(self, device: int) -> bytes:
        allocation = self._stats(device)["allocation"]
        return b"".join(
            struct.pack("4q", *(allocation[pool][field] for field in ("current", "peak", "allocated", "freed")))
            for pool in ("all", "small_pool", "large_pool")
        )


def readable(fd: int, address: int) -> bytes:
    """Memory from an address on, as far as it can be read."""
    found = b""
    while len(found) < OBJECT_BYTES:
        try:
            piece = os.pread(fd, PAGE_BYTES - (address + len(found)) % PAGE_BYTES, address + len(found))
        except (OSError, OverflowError):
            break
        if not piece:
            break
        found += piece
    return found
