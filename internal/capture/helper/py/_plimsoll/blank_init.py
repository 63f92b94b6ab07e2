"""Leaves out the filling of large CPU tensors while a model is built: nobody reads the values."""
from __future__ import annotations

import functools
import weakref

import torch

from .host_views import storages_are_kept

LARGE = 1_000_000  # elements
SAMPLES = 64  # elements looked at to see that memory is fresh

FILLERS = frozenset("normal_ uniform_ trunc_normal_ random_ bernoulli_ exponential_ log_normal_ cauchy_ geometric_".split())
FOLLOWERS = frozenset("mul_ add_ sub_ div_ clamp_ clip_ erfinv_ __imul__ __iadd__ __isub__ __itruediv__".split())
INITIALISERS = (
    "normal_ uniform_ trunc_normal_ xavier_uniform_ xavier_normal_ kaiming_uniform_ kaiming_normal_ orthogonal_ sparse_".split()
)
CASTS = frozenset("to half bfloat16 float double clone contiguous".split())


class Blank:
    """Tensors whose initialiser was left out. Their memory reads as zeros and mostly takes none."""

    def __init__(self, marks) -> None:
        self._marks = marks
        self._known: dict = {}  # storage pointer -> weak reference to its storage
        self.count = 0

    def hook(self) -> None:
        """Leave out torch.nn.init's functions where that is safe."""
        for name in INITIALISERS:
            inner = getattr(torch.nn.init, name, None)
            if inner is not None:
                setattr(torch.nn.init, name, self._wrapped(inner))

    def handler(self, name: str, handle):
        """What to do instead of handle for a function of this name, or None."""
        if name in FILLERS:
            return lambda func, args, kwargs: args[0] if self.take(args[0] if args else None) else handle(func, args, kwargs)
        if name in FOLLOWERS:
            return lambda func, args, kwargs: args[0] if self.has(args[0]) and not differentiable(args[0]) else handle(func, args, kwargs)
        if name in CASTS:
            return functools.partial(self._cast, handle)
        return None

    def take(self, tensor) -> bool:
        """Leave a tensor as it is, if it is a large one of a model being built on the CPU."""
        if not isinstance(tensor, torch.Tensor) or tensor.device.type != "cpu" or tensor.numel() < LARGE:
            return False
        if self._marks.phase != "load" or not tensor.is_contiguous() or type(tensor) not in (torch.Tensor, torch.nn.Parameter):
            return False
        if not tensor.is_floating_point() or differentiable(tensor):
            return False
        flat = tensor.detach().view(-1)
        if bool((flat[:: max(flat.numel() // SAMPLES, 1)] != 0).any()):
            flat.zero_()  # memory that held something before
        self._remember(tensor)
        return True

    def has(self, tensor) -> bool:
        """True for a tensor that was left out."""
        if not self._known or type(tensor) not in (torch.Tensor, torch.nn.Parameter) or tensor.device.type != "cpu":
            return False
        storage = tensor.untyped_storage()
        known = self._known.get(storage.data_ptr())
        return known is not None and known() is storage

    def _wrapped(self, inner):
        @functools.wraps(inner)
        def initialise(tensor, *args, **kwargs):
            return tensor if self.take(tensor) else inner(tensor, *args, **kwargs)

        return initialise

    def _cast(self, handle, func, args, kwargs):
        source = args[0] if args else None
        if not self.has(source) or differentiable(source) or not source.is_contiguous():
            return handle(func, args, kwargs)
        name = func.__name__
        if name == "to":
            try:
                device, dtype, _, layout = torch._C._nn._parse_to(*args[1:], **{k: v for k, v in kwargs.items() if k != "copy"})
            except (TypeError, RuntimeError):
                return handle(func, args, kwargs)
            if layout is not None or (device is not None and device.type != "cpu") or dtype in (None, source.dtype):
                return handle(func, args, kwargs)
        else:
            kinds = {"half": torch.float16, "bfloat16": torch.bfloat16, "float": torch.float32, "double": torch.float64}
            dtype = kinds.get(name, source.dtype)
            if name == "contiguous" or (name != "clone" and dtype == source.dtype) or kwargs:
                return handle(func, args, kwargs)
        out = torch.empty(source.shape, dtype=dtype)
        self.take(out)
        return out

    def _remember(self, tensor) -> None:
        self.count += 1
        if not storages_are_kept():
            return
        storage = tensor.untyped_storage()
        self._known[storage.data_ptr()] = weakref.ref(storage)


def differentiable(tensor) -> bool:
    """True where autograd watches what happens to a tensor."""
    return tensor.requires_grad and torch.is_grad_enabled()
