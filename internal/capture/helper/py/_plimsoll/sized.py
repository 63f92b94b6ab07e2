"""Operators whose result's size depends on values.

PyTorch reads the size back from the device, where no kernel wrote it: it finds
zero. Where the values that decide are known (small_values), the result is given
its true size; where not, it is empty and the report is a lower bound. Either
way the line is noted.
"""
from __future__ import annotations

import torch

from .small_values import PLAIN, UNIFORM, has_tensor, name_of


class Sized:
    """Gives results of such operators their size."""

    def call(self, mirror, func, args, kwargs):
        """Make a call of one of operators.SIZED."""
        name = name_of(func)
        if name == "__getitem__":
            return self._index(mirror, func, args)
        source = args[0] if args else None
        if type(source) not in PLAIN or not source.is_cuda or (name == "where" and len(args) + len(kwargs) > 1):
            return mirror._computed(func, args, kwargs)
        if name == "repeat_interleave" and not any(type(a) in PLAIN for a in (*args[1:], *kwargs.values())) and not len(args) + len(kwargs) == 1:
            return mirror._computed(func, args, kwargs)  # repeats is a number
        special = {"masked_select": self._select, "repeat_interleave": self._repeat, "nonzero": self._nonzero, "where": self._nonzero, "argwhere": self._nonzero}.get(name)
        if special is not None:
            return special(mirror, func, args, kwargs)
        return self._other(mirror, func, args, kwargs)

    def look_at_index(self, mirror, target, index, operator: str) -> None:
        """Note a mask in an index."""
        for mask in index if isinstance(index, tuple) else (index,):
            if type(mask) in PLAIN and mask.is_cuda and mask.dtype in (torch.bool, torch.uint8):
                mirror.notes.dependent(operator, mirror.views.small(mask) and mirror.views.exact(mask))

    def _index(self, mirror, func, args):
        source, index = args[0], args[1]
        if type(source) not in PLAIN or not source.is_cuda or not has_tensor(index):
            return func(*args)
        self.look_at_index(mirror, source, index, "__getitem__")
        parts = index if isinstance(index, tuple) else (index,)
        if any(is_mask(p) for p in parts):
            flat = []
            for part in parts:
                flat.extend(self.places(mirror, part).unbind(1) if is_mask(part) else (part,))
            args = source, tuple(flat)
        return mirror._computed(func, args, {})

    def places(self, mirror, mask):
        """Indices of a mask's true elements: nonzero with the true size."""
        views = mirror.views
        views.scrub()
        found = torch.Tensor.nonzero(mask)
        if views.small(mask):
            known = views.view(mask.detach()).nonzero()
        elif getattr(mask, UNIFORM, False):
            known = torch.empty(1).expand(mask.numel(), mask.dim())
        else:
            return found
        if known.shape == found.shape:
            return found
        found = torch.empty(known.shape, dtype=torch.int64, device=mask.device)
        if views.small(found) and known.dtype == torch.int64:
            views.view(found).copy_(known)
            views.keep(found, views.exact(mask))
        return found

    def _nonzero(self, mirror, func, args, kwargs):
        source = args[0]
        mirror.notes.dependent(name_of(func), mirror.views.small(source) and mirror.views.exact(source))
        found = self.places(mirror, source.detach())
        if kwargs.get("as_tuple") or name_of(func) == "where":
            return tuple(found.unbind(1))
        return found

    def _select(self, mirror, func, args, kwargs):
        source, mask = args[0], args[1] if len(args) > 1 else kwargs.get("mask")
        if type(mask) not in PLAIN or "out" in kwargs:
            return func(*args, **kwargs)
        views = mirror.views
        mirror.notes.dependent("masked_select", views.small(mask) and views.exact(mask))
        if mask.shape != source.shape:
            marked = getattr(mask, UNIFORM, None)
            source, mask = torch.broadcast_tensors(source, mask)
            if marked:
                setattr(mask, UNIFORM, marked)
        return mirror._computed(torch.Tensor.__getitem__, (source, tuple(self.places(mirror, mask).unbind(1))), {})

    def _repeat(self, mirror, func, args, kwargs):
        repeats = next((a for a in (*args[1:2], kwargs.get("repeats")) if type(a) in PLAIN), args[0])
        views = mirror.views
        known = repeats.is_cuda and views.small(repeats)
        mirror.notes.dependent("repeat_interleave", known and views.exact(repeats))
        if known and kwargs.get("output_size") is None:
            total = int(views.view(repeats.detach()).sum())
            if repeats.numel() == 1 and repeats is not args[0]:
                total *= args[0].numel() if kwargs.get("dim") is None and len(args) < 3 else args[0].shape[args[2] if len(args) > 2 else kwargs["dim"]]
            kwargs = dict(kwargs, output_size=total)
        views.scrub()
        return mirror._computed(func, args, kwargs)

    def _other(self, mirror, func, args, kwargs):
        """unique, bincount and the like: a result that autograd does not follow."""
        views = mirror.views
        inputs = mirror.inputs(args, kwargs)
        mirror.notes.dependent(name_of(func), bool(inputs) and all(map(views.exact, inputs)))
        with views.blank():
            out = func(*args, **kwargs)
        if not inputs:
            return out
        exact = all(map(views.exact, inputs))
        return mirror._attempt(func, self._grow, mirror, func, args, kwargs, exact, out)

    def _grow(self, mirror, func, args, kwargs, exact, out):
        known = mirror.on_host(func, args, kwargs)
        if not isinstance(known, (tuple, list)):
            return grown(mirror, known, out, exact)
        parts = [grown(mirror, k, o, exact) for k, o in zip(known, out)]
        return type(out)(parts) if type(out) in (tuple, list) else type(out)(tuple(parts))


def is_mask(part) -> bool:
    """True for a mask on a device in an index."""
    return type(part) in PLAIN and part.is_cuda and part.dtype in (torch.bool, torch.uint8) and part.dim() > 0


def grown(mirror, known, out, exact: bool):
    """A result with the known shape and contents: out itself if it has that shape."""
    if type(out) not in PLAIN or not out.is_cuda:
        return out
    if out.shape != known.shape:
        out = torch.empty(known.shape, dtype=out.dtype, device=out.device)
    if mirror.views.small(out):
        mirror.views.view(out).copy_(known)
        mirror.views.keep(out, exact)
    return out
