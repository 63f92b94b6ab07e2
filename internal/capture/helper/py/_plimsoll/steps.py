"""Counts optimizer steps, however the script takes them, and says when enough were seen."""
from __future__ import annotations

import functools
import importlib
import weakref

from . import imports

PATIENCE = 4  # rounds to wait, per round asked for, for an optimizer that has not stepped yet


class Steps:
    """A round is one step of every optimizer that steps; --steps counts rounds.

    With one optimizer a round is a step. Two of a GAN step in turn. Where each
    parameter has its own optimizer that steps within the backward pass, a round
    is a backward pass. Without any torch optimizer, backward passes are counted.
    """

    def __init__(self, torch, marks, labels, on_round) -> None:
        self._torch = torch
        self._marks = marks
        self._labels = labels
        self._on_round = on_round  # called with (rounds done, True if all optimizers have stepped)
        self._counts: dict = {}  # id of an optimizer -> steps
        self._known: dict = {}  # id -> weak reference
        self._inside = 0
        self.rounds = 0
        self.backwards = 0
        self.name = ""

    def hook(self) -> None:
        """Begin to count."""
        optim = importlib.import_module("torch.optim.optimizer")
        optim.register_optimizer_step_pre_hook(lambda optimizer, args, kwargs: self.before(optimizer))
        optim.register_optimizer_step_post_hook(lambda optimizer, args, kwargs: self.after(optimizer))
        steps, init = self, optim.Optimizer.__init__

        @functools.wraps(init)
        def remember(optimizer, *args, **kwargs):
            init(optimizer, *args, **kwargs)
            steps.know(optimizer)

        optim.Optimizer.__init__ = remember
        for name in ("torch.cuda.amp.grad_scaler", "torch.amp.grad_scaler"):
            imports.after(name, self._hook_scaler)
        imports.after("deepspeed.runtime.engine", self._hook_deepspeed)

    def know(self, optimizer) -> None:
        """An optimizer was made."""
        self._known[id(optimizer)] = weakref.ref(optimizer)
        self._counts.setdefault(id(optimizer), 0)

    def before(self, optimizer) -> None:
        """An optimizer's step begins."""
        with self._torch._C.DisableTorchFunction():
            self._before(optimizer)

    def after(self, optimizer) -> None:
        """An optimizer's step ended."""
        with self._torch._C.DisableTorchFunction():
            self._after(optimizer)

    def _before(self, optimizer) -> None:
        self._inside += 1
        if self._inside > 1:
            return
        if self._counts.get(id(optimizer), 0) > self.rounds:
            self._end_round()  # it comes round again: the others do not step as often
        self._labels.gradients()
        self._marks.enter("step")

    def _after(self, optimizer) -> None:
        self._inside -= 1
        if self._inside > 0:
            return
        self._inside = 0
        if id(optimizer) not in self._known:
            self.know(optimizer)
        self._counts[id(optimizer)] = self._counts.get(id(optimizer), 0) + 1
        self.name = self.name or type(optimizer).__name__
        self._labels.optimizer(optimizer)
        self._marks.enter("idle")
        if all(count > self.rounds for count in self._alive().values()):
            self._end_round()

    @property
    def inside(self) -> bool:
        """True between the begin and the end of a step, as in a closure that the optimizer calls."""
        return self._inside > 0

    def backward_began(self) -> None:
        """Without optimizers a second backward pass ends the first one's round."""
        if not self._alive() and self.backwards > self.rounds:
            self._end_round()

    def backward_ended(self) -> None:
        """A backward pass ended."""
        self.backwards += 1

    def _alive(self) -> dict:
        """Steps of the optimizers that still exist and that are not another one's inside."""
        for key, reference in list(self._known.items()):
            if reference() is None:
                del self._known[key]
                del self._counts[key]
        return self._counts

    def _end_round(self) -> None:
        self.rounds += 1
        self._marks.add("step", self.rounds)
        self._on_round(self.rounds, all(self._alive().values()))

    def _hook_scaler(self, module) -> None:
        """GradScaler leaves a step out when it found infinities; it is a round of the script all the same."""
        scaler = getattr(module, "GradScaler", None)
        if scaler is None or "step" not in vars(scaler):
            return
        steps, inner = self, scaler.step

        @functools.wraps(inner)
        def step(self, optimizer, *args, **kwargs):
            before = steps._counts.get(id(optimizer), 0), steps.rounds
            result = inner(self, optimizer, *args, **kwargs)
            after = steps._counts.get(id(optimizer), 0), steps.rounds
            if before == after and isinstance(optimizer, steps._torch.optim.Optimizer) and not steps._inside:
                steps.before(optimizer)
                steps.after(optimizer)
            return result

        scaler.step = step

    def _hook_deepspeed(self, module) -> None:
        """DeepSpeed's optimizers are none of torch's, and call theirs once for each group of parameters."""
        engine = getattr(module, "DeepSpeedEngine", None)
        inner = getattr(engine, "_take_model_step", None)
        if inner is None:
            return
        steps = self

        @functools.wraps(inner)
        def take(self, *args, **kwargs):
            optimizer = self.optimizer
            if optimizer is None:
                return inner(self, *args, **kwargs)
            for other in (getattr(self, "basic_optimizer", None), getattr(self, "client_optimizer", None)):
                steps._known.pop(id(other), None)
                steps._counts.pop(id(other), None)
            steps.before(optimizer)
            try:
                return inner(self, *args, **kwargs)
            finally:
                steps.after(optimizer)

        engine._take_model_step = take
