"""Keeps torch.compile from seeing the helper: its graphs, guards and breaks are the script's own."""
from __future__ import annotations

import functools
import types
import warnings

from . import imports


class Dynamo:
    """Takes hooks and mode away while a compiled callable runs."""

    def __init__(self, torch, mirror, modules) -> None:
        self._module_type = torch.nn.Module
        self._mirror = mirror
        self._modules = modules

    def hook(self) -> None:
        """Watch for the compiler."""
        imports.after("torch._dynamo.eval_frame", self._hook)

    def _hook(self, module) -> None:
        context = module._TorchDynamoContext
        inner = context.__call__
        aside = self._aside

        @functools.wraps(inner)
        def __call__(self, fn):
            out = inner(self, fn)
            return aside(fn, out) if isinstance(out, types.FunctionType) else out

        context.__call__ = __call__
        warnings.filterwarnings("ignore", message=".*when there are global hooks on modules.*")

    def _aside(self, fn, run):
        mirror, modules = self._mirror, self._modules
        owner = getattr(fn, "__self__", None)
        whole = isinstance(owner, self._module_type) and getattr(fn, "__name__", "") == "_call_impl"  # Module.compile()

        @functools.wraps(run)
        def compiled(*args, **kwargs):
            mirror.compiled = True  # and so will its backward pass be
            place = mirror.lift()
            paused = modules.pause()
            if whole:
                modules.enter(owner, args)
            out = None
            try:
                out = run(*args, **kwargs)
                return out
            finally:
                if whole:
                    modules.leave(owner, args, out)
                if paused:
                    modules.resume()
                if place:
                    mirror.put_back(place)

        return compiled
