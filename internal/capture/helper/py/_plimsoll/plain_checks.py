"""Keeps a torch function mode from changing which code PyTorch runs.

While a mode is on, has_torch_function is true of everything. Functions written
in Python then hand themselves to the mode whole, and modules leave their fast
paths. Here the mode of the small values is not counted: those functions run as
they would, and the mode sees the operators inside them.
"""
from __future__ import annotations

import torch
from torch.utils._device import DeviceContext

NAMES = ("has_torch_function", "has_torch_function_unary", "has_torch_function_variadic")
MODULES = ("torch", "torch.overrides", "torch.functional", "torch.nn.functional", "torch._tensor", "torch.autograd", "torch.nn.init", "torch.nn.modules.activation", "torch.nn.modules.transformer", "torch._ops", "torch._lowrank", "torch._lobpcg", "torch.foreach", "torch.distributed.distributed_c10d")

_length = torch._C._len_torch_function_stack
_at = torch._C._get_function_stack_at
_disabled = torch._C._disabled_torch_function_impl
_own: dict = {torch.Tensor: False, torch.nn.Parameter: False}


class PlainChecks:
    """Replaces the three checks where they were imported, and puts them back."""

    def __init__(self, mode) -> None:
        self._mode = mode
        overrides = torch.overrides
        one, more = overrides.has_torch_function_unary, overrides.has_torch_function_variadic
        several = overrides.has_torch_function
        only = self._only_ours

        def has_torch_function(relevant_args):
            return any(map(overridden, relevant_args)) if only() else several(relevant_args)

        def has_torch_function_unary(arg):
            return overridden(arg) if only() else one(arg)

        def has_torch_function_variadic(*args):
            return any(map(overridden, args)) if only() else more(*args)

        self._places = []  # (module, name, theirs, ours)
        theirs = dict(zip(NAMES, (several, one, more)))
        ours = dict(zip(NAMES, (has_torch_function, has_torch_function_unary, has_torch_function_variadic)))
        import sys

        for module in map(sys.modules.get, MODULES):
            for name in NAMES:
                if module is not None and vars(module).get(name) is theirs[name]:
                    self._places.append((module, name, theirs[name], ours[name]))
        self.put()

    def put(self) -> None:
        """Use our checks."""
        for module, name, _, ours in self._places:
            setattr(module, name, ours)

    def remove(self) -> None:
        """Use PyTorch's own, for code that is being compiled."""
        for module, name, theirs, _ in self._places:
            setattr(module, name, theirs)

    def _only_ours(self) -> bool:
        found = False
        for i in range(_length()):
            mode = _at(i)
            if mode is self._mode:
                found = True
            elif type(mode) is not DeviceContext:
                return False
        return found


def overridden(value) -> bool:
    """True for a value whose type brings its own torch function."""
    kind = type(value)
    own = _own.get(kind)
    if own is None:
        function = getattr(kind, "__torch_function__", None)
        plain = kind is torch.Tensor or function is None or function is _disabled
        own = _own[kind] = not plain
    return own and torch._C._is_torch_function_enabled()
