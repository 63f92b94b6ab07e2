"""Device memory seen from the host: CPU tensors that lie on device addresses."""
from __future__ import annotations

import contextlib
import ctypes
import weakref

import torch

from .modules import version

SMALL_BYTES = 1 << 16  # as the virtual GPU: copies up to here are real
INTEGER_BYTES = 1 << 21  # indices, masks and labels of a whole batch steer scripts too
INTEGERS = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool)
ELEMENTS = 1 << 18  # at most so many elements are computed
CHUNK_BITS = 21
SETTLED = 32  # storages looked at each time


def limits() -> dict:
    """Largest number of elements that counts as small, by type."""
    kinds = {getattr(torch, n) for n in dir(torch) if isinstance(getattr(torch, n), torch.dtype)}
    found = {}
    for kind in kinds:
        size = _item_size(kind)
        found[kind] = min((INTEGER_BYTES if kind in INTEGERS else SMALL_BYTES) // max(size, 1), ELEMENTS)
    return found


def _item_size(kind) -> int:
    if hasattr(kind, "itemsize"):  # from PyTorch 2.1
        return kind.itemsize
    if kind == torch.complex32:
        return 4  # asking warns
    try:
        return torch.empty((), dtype=kind).element_size()
    except (RuntimeError, TypeError):
        return 16  # quantized


class Views:
    """CPU tensors over device memory, and the contents that were written through them.

    Free device memory reads as zeros: contents are erased when the storage
    that they were written for is gone, so that PyTorch never finds the values
    of an earlier tensor in a new one.
    """

    def __init__(self) -> None:
        self.limits = limits()
        self._library = ctypes.CDLL(None)
        self._touch = self._library.plimsoll_vgpu_touch
        self._touch.argtypes = [ctypes.c_size_t, ctypes.c_size_t]
        base, size = ctypes.c_size_t(), ctypes.c_size_t()
        self._library.plimsoll_vgpu_range(ctypes.byref(base), ctypes.byref(size))
        if not base.value:
            raise RuntimeError("the virtual GPU has no memory")
        self.base, self.size = base.value, size.value
        self._buffer = (ctypes.c_ubyte * self.size).from_address(self.base)
        self._bytes = torch.frombuffer(self._buffer, dtype=torch.uint8)
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(self._bytes))  # never freed: nothing is left to free it in
        self._typed: dict = {}
        self._items: dict = {}
        self._open: set = set()
        self._live: dict = {}  # storage pointer -> [reference, bytes, exact, weak reference or 0]
        self._lost: list = []  # (pointer, bytes, weak reference): contents whose storage may be gone (PyTorch 2.0)
        self._kept = storages_are_kept()

    def small(self, tensor) -> bool:
        """True for a device tensor whose contents are kept."""
        limit = self.limits.get(tensor.dtype, 0)
        if tensor.numel() > limit or tensor.layout is not torch.strided:
            return False
        return tensor.untyped_storage().nbytes() <= max(limit * self.item(tensor.dtype), 1)

    def item(self, dtype) -> int:
        """Bytes of one element."""
        size = self._items.get(dtype)
        if size is None:
            size = self._items[dtype] = _item_size(dtype)
        return size

    def view(self, tensor):
        """The CPU tensor on the same memory."""
        dtype = tensor.dtype
        whole = self._typed.get(dtype)
        if whole is None:
            whole = self._typed[dtype] = self._bytes.view(dtype)
        pointer = tensor.data_ptr()
        if pointer >> CHUNK_BITS not in self._open:
            if not tensor.numel():
                return torch.empty(tensor.shape, dtype=dtype)
            self._open_pages(pointer, tensor)
        return whole.as_strided(tensor.shape, tensor.stride(), (pointer - self.base) // self.item(dtype))

    def keep(self, tensor, exact: bool) -> None:
        """Contents were written into a tensor: erase them when its storage goes."""
        storage = tensor.untyped_storage()
        pointer = storage.data_ptr()
        if not pointer:
            return
        had = self._live.get(pointer)
        if had is not None and had[0]() is not None:
            had[2] = exact
            return
        weak = 0 if self._kept else storage._weak_ref()
        owner = storage if self._kept else tensor
        self._live[pointer] = [weakref.ref(owner, lambda r: self._gone(pointer, r)), storage.nbytes(), exact, weak]

    def exact(self, tensor) -> bool:
        """True when the contents were computed from known values, not from zeros that stand for large tensors."""
        had = self._live.get(tensor.data_ptr()) or self._live.get(tensor.untyped_storage().data_ptr())
        return had is not None and had[2]

    def erase(self, tensor) -> None:
        """Make a tensor read as zeros: all of its storage if that is small, else the piece of it."""
        try:
            storage = tensor.untyped_storage()
            size = storage.nbytes()
            if size <= SMALL_BYTES:
                self._zero(storage.data_ptr(), size)
            elif tensor.is_contiguous():
                self._zero(tensor.data_ptr(), tensor.numel() * self.item(tensor.dtype))
        except (RuntimeError, NotImplementedError):
            pass  # no memory of its own: functional, sparse or nested

    def scrub(self) -> None:
        """Erase all that lies beside known contents in the pages where small tensors live.

        PyTorch copies small tensors inside its operators, and the virtual GPU
        makes those copies; what they leave in free memory must not be taken
        for the size of something.
        """
        chunks: dict = {}
        for pointer, entry in self._live.items():
            for chunk in range(pointer >> CHUNK_BITS, (pointer + entry[1]) >> CHUNK_BITS):
                chunks.setdefault(chunk, []).append((pointer, pointer + entry[1]))
            chunks.setdefault((pointer + entry[1] - 1) >> CHUNK_BITS, []).append((pointer, pointer + entry[1]))
        for chunk in self._open:
            self._scrub_chunk(chunk << CHUNK_BITS, sorted(chunks.get(chunk, ())))

    def _scrub_chunk(self, start: int, known) -> None:
        end, at = start + (1 << CHUNK_BITS), start
        resident = self._resident(start)
        for first, last in [*known, (end, end)]:
            for page in range(at >> 12, (min(first, end) + 4095) >> 12):
                if resident[page - (start >> 12)] & 1:
                    low, high = max(at, page << 12), min(first, (page + 1) << 12, end)
                    if high > low:
                        ctypes.memset(low, 0, high - low)
            at = max(at, last)

    def _resident(self, start: int):
        pages = (ctypes.c_ubyte * (1 << (CHUNK_BITS - 12)))()
        if self._library.mincore(ctypes.c_size_t(start), ctypes.c_size_t(1 << CHUNK_BITS), pages):
            return b"\1" * len(pages)
        return pages

    @contextlib.contextmanager
    def blank(self):
        """Keep an operator that asks the device for a size from meeting what its own copies left there."""
        self.scrub()
        self._library.plimsoll_vgpu_blank(1)
        try:
            yield
        finally:
            self._library.plimsoll_vgpu_blank(0)

    def settle(self) -> None:
        """Erase what PyTorch 2.0 could not say at once: its storages have no lasting Python object."""
        for entry in self._lost[:SETTLED]:
            self._lost.remove(entry)
            if torch.UntypedStorage._expired(entry[2]):
                torch.UntypedStorage._free_weak_ref(entry[2])
                if entry[0] not in self._live:  # nobody has it again
                    self._zero(entry[0], entry[1])
            else:
                self._lost.append(entry)

    def close(self) -> None:
        """Watch no storage any more: the interpreter goes down, in no particular order."""
        self._live.clear()
        del self._lost[:]

    def _gone(self, pointer: int, reference) -> None:
        had = self._live.get(pointer)
        if had is not None and had[0] is reference:
            del self._live[pointer]
            if had[3]:
                self._lost.append((pointer, had[1], had[3]))
            else:
                self._zero(pointer, had[1])

    def _zero(self, pointer: int, size: int) -> None:
        if self._touch(pointer, size) == 0:
            ctypes.memset(pointer, 0, size)

    def _open_pages(self, pointer: int, tensor) -> None:
        storage = tensor.untyped_storage()
        start, size = storage.data_ptr(), storage.nbytes()
        if not (self.base <= start and start + size <= self.base + self.size) or self._touch(start, size) != 0:
            raise RuntimeError("not on the virtual GPU")
        # A chunk counts as open once the whole of it is.
        first, last = start >> CHUNK_BITS, (start + size) >> CHUNK_BITS
        for chunk in range(first, min(last, first + 64) + 1):
            if self._touch(chunk << CHUNK_BITS, 1 << CHUNK_BITS) == 0:
                self._open.add(chunk)


def storages_are_kept() -> bool:
    """Whether a storage has one Python object for life; before PyTorch 2.1 a weak reference to one dangles."""
    return version(torch) >= (2, 1)
