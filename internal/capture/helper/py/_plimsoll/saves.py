"""Files that a script saves: listed by name, and kept from costing gigabytes.

Below, all writes go to a folder of the capture. Here torch.save and
safetensors write the true structure and leave the contents of large tensors
out, as holes: the file has its size, loads again, and takes no disk.
"""
from __future__ import annotations

import functools
import json
import os
import struct
import sys

import torch

from . import imports

LARGE = 1 << 24  # bytes of tensors from which contents are left out

# Functions on whose behalf something is saved, as people know them.
CALLERS = {
    "save_pretrained": "save_pretrained",
    "save_model": "save_model",
    "_save_checkpoint": "Trainer checkpoint",
    "save_checkpoint": "save_checkpoint",
    "save_state": "save_state",
    "_save_optimizer_and_scheduler": "Trainer checkpoint",
}


class Saves:
    """Wraps the functions that write tensors to files."""

    def __init__(self, notes, marks) -> None:
        self._notes = notes
        self._marks = marks

    def hook(self) -> None:
        """Begin to watch."""
        torch.save = self._torch_save(torch.save)
        torch.serialization.save = torch.save
        imports.after("safetensors.torch", self._hook_safetensors)

    def _listed(self, what: str, path) -> None:
        frame, outer = sys._getframe(2), None
        while frame is not None:
            outer = CALLERS.get(frame.f_code.co_name, outer)
            frame = frame.f_back
        name = os.fspath(path) if isinstance(path, (str, os.PathLike)) else getattr(path, "name", "")
        if isinstance(name, str) and name:
            self._notes.wrote("redirected", outer or what, os.path.abspath(name))

    def _torch_save(self, inner):
        @functools.wraps(inner)
        def save(obj, f, *args, **kwargs):
            self._listed("torch.save", f)
            before = self._marks.phase
            self._marks.enter("save")
            try:
                if isinstance(f, (str, os.PathLike)) and hasattr(torch.serialization, "skip_data") and weight(obj) > LARGE:
                    with torch.serialization.skip_data():
                        return inner(obj, f, *args, **kwargs)
                return inner(obj, f, *args, **kwargs)
            finally:
                self._marks.enter(before)

        return save

    def _hook_safetensors(self, module) -> None:
        inner = module.save_file

        @functools.wraps(inner)
        def save_file(tensors, filename, metadata=None, *args, **kwargs):
            self._listed("safetensors.save_file", filename)
            if weight(tensors) <= LARGE:
                return inner(tensors, filename, metadata, *args, **kwargs)
            return hollow(tensors, filename, metadata)

        module.save_file = save_file


def weight(value, level: int = 0) -> int:
    """Bytes of the tensors in a structure, roughly: shared storages count twice."""
    if isinstance(value, torch.Tensor):
        try:
            return value.numel() * value.element_size()
        except RuntimeError:
            return 0
    if level > 6:
        return 0
    if isinstance(value, dict):
        return sum(weight(v, level + 1) for v in value.values())
    if isinstance(value, (list, tuple)):
        return sum(weight(v, level + 1) for v in value)
    if isinstance(value, torch.nn.Module):
        return sum(weight(p) for p in value.parameters())
    return 0


# Names of types in a safetensors header: safetensors' documentation of its format.
TYPES = {
    "float64": "F64", "float32": "F32", "float16": "F16", "bfloat16": "BF16", "int64": "I64", "int32": "I32", "int16": "I16",
    "int8": "I8", "uint8": "U8", "bool": "BOOL", "float8_e4m3fn": "F8_E4M3", "float8_e5m2": "F8_E5M2", "complex64": "C64",
}


def hollow(tensors: dict, filename, metadata=None) -> None:
    """Write a safetensors file whose tensors are zeros, as a hole in the file."""
    header: dict = {"__metadata__": metadata} if metadata else {}
    offset = 0
    for name, tensor in tensors.items():
        size = tensor.numel() * tensor.element_size()
        kind = TYPES[str(tensor.dtype).replace("torch.", "")]
        header[name] = {"dtype": kind, "shape": list(tensor.shape), "data_offsets": [offset, offset + size]}
        offset += size
    text = json.dumps(header, separators=(",", ":")).encode("utf-8")
    text += b" " * (-len(text) % 8)
    with open(filename, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        file.truncate(8 + len(text) + offset)
