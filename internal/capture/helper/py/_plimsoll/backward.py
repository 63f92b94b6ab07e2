"""Where backward passes begin and end."""
from __future__ import annotations

import functools
import threading

from .modules import first_tensor


class Backward:
    """Wraps the two public doors to autograd's engine."""

    def __init__(self, torch, marks, modules, labels, steps, mirror) -> None:
        self._torch = torch
        self._marks = marks
        self._modules = modules
        self._labels = labels
        self._steps = steps
        self._mirror = mirror

    def hook(self) -> None:
        """Begin to mark."""
        autograd = self._torch.autograd
        autograd.backward = self._wrapped(autograd.backward, True)
        autograd.grad = self._wrapped(autograd.grad, False)

    def _wrapped(self, inner, whole: bool):
        began, ended, mirror = self._began, self._ended, self._mirror

        @functools.wraps(inner)
        def run(*args, **kwargs):
            if threading.current_thread() is not threading.main_thread() or self._traced(args, kwargs):
                return inner(*args, **kwargs)
            lifted = mirror.compiled and mirror.lift()  # a compiled backward is compiled now
            before = began(whole)
            try:
                out = inner(*args, **kwargs)
                if not whole and mirror.views:
                    mirror.clear(out)
                return out
            except self._torch.cuda.OutOfMemoryError as error:
                mirror.out_of_memory(error)
                raise
            finally:
                ended(whole, before)
                if lifted:
                    mirror.put_back(lifted)

        return run

    def _traced(self, args, kwargs) -> bool:
        """Whether a compiler only asks what a backward pass would do, with tensors that have no memory."""
        first = first_tensor(args or list(kwargs.values()), self._torch.Tensor)
        return first is not None and type(first).__module__.startswith("torch._subclasses.")

    def _began(self, whole: bool) -> str:
        modules, before = self._modules, self._marks.phase
        modules.backward_depth += 1
        if modules.backward_depth == 1:
            modules.reset()
            if whole:
                self._steps.backward_began()
            self._marks.enter("backward")
        return before

    def _ended(self, whole: bool, before: str) -> None:
        self._modules.backward_depth -= 1
        if self._modules.backward_depth:
            return
        if not whole:
            self._marks.enter(before)  # a gradient in the middle of a loss
            return
        with self._torch._C.DisableTorchFunction():
            self._labels.gradients(self._mirror.views)
        self._marks.enter("step" if self._steps.inside else "idle")
        self._steps.backward_ended()
