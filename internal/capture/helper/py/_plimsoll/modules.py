"""Where modules begin and end, forward and backward, and the phases that follow from it."""
from __future__ import annotations

import sys
import threading
import weakref
from collections import OrderedDict

from .marks import clean

OWN = -1  # key of our hook on a tensor; PyTorch counts its own from zero

# Wrappers whose attribute says nothing to a reader of a module path.
WRAPPERS = frozenset("_fsdp_wrapped_module _checkpoint_wrapped_module _orig_mod _forward_module".split())


class Modules:
    """Global module hooks that write marks. They allocate nothing and keep no tensor alive."""

    def __init__(self, torch, marks, labels) -> None:
        self._torch = torch
        self._marks = marks
        self._labels = labels
        self._names: dict = {}  # id of a module -> (weak reference, qualified name)
        self._local = threading.local()
        self._main = threading.main_thread().ident
        self._handles: list = []
        self._aside = torch._C.DisableTorchFunction  # what is asked of tensors here is none of the mode's business
        self.backward_depth = 0
        self.roots = weakref.WeakSet()

    def hook(self) -> None:
        """Begin to mark."""
        module = self._torch.nn.modules.module
        compiling = compiling_test(self._torch)
        enter, leave = self.enter, self.leave

        def before(inner, args):
            if compiling():
                return None
            return enter(inner, args)

        def after(inner, args, output):
            if compiling():
                return None
            return leave(inner, args, output)

        more = {"always_call": True} if version(self._torch) >= (2, 6) else {}
        self._handles = [module.register_module_forward_pre_hook(before), module.register_module_forward_hook(after, **more)]
        self._hooks = before, after, bool(more)

    def pause(self) -> bool:
        """Take the hooks away, for code that is being compiled; True if they were there."""
        if not self._handles:
            return False
        for handle in self._handles:
            handle.remove()
        self._handles = []
        return True

    def resume(self) -> None:
        """Put the hooks back."""
        if not self._handles:
            self.hook()

    def enter(self, module, args) -> None:
        """A module's forward begins."""
        stack = self._stack()
        if stack and stack[0][0]() is module:
            del stack[:]  # an exception went past an earlier call's end
        device = self._thread_device()
        if not stack:
            with self._aside():
                self._outermost(module, args)
        name = self._name(module, stack)
        stack.append((weakref.ref(module), name))
        self._marks.add("enter", "f", name, device)
        if self._torch.is_grad_enabled():
            self._watch(args, name, "exit")

    def leave(self, module, args, output) -> None:
        """A module's forward ends; output is None after an exception."""
        stack = self._stack()
        while stack:
            was, name = stack.pop()
            if was() is module:
                break
        else:
            return
        self._marks.add("exit", "f", name, self._thread_device())
        if output is not None and self._torch.is_grad_enabled():
            self._watch(output, name, "enter")
        if not stack:
            with self._aside():
                self._ended(module, output)

    def reset(self) -> None:
        """Forget calls that an exception cut short."""
        del self._stack()[:]

    def _stack(self) -> list:
        local = self._local
        if not hasattr(local, "stack"):
            local.stack = []
            local.hooked = None
        return local.stack

    def _thread_device(self):
        """Threads of nn.DataParallel work on one device each; the main thread's marks count for all."""
        if threading.get_ident() == self._main or not self._torch.cuda.is_initialized():
            return None
        return self._torch.cuda.current_device()

    def _outermost(self, module, args) -> None:
        if self.backward_depth or threading.get_ident() != self._main:
            return
        if next(module.parameters(), None) is None:
            return  # a loss, a transform: whatever is going on goes on
        training = self._torch.is_grad_enabled() and (module.training or self._marks.phase == "loss")
        if not (training and self._marks.phase == "loss" and not module.training):
            self._marks.enter("forward" if training else "eval")
        if module not in self.roots:
            self.roots.add(module)
            self._learn(module)
        self._labels.inputs(args, keywords(module))

    def _ended(self, module, output) -> None:
        if self.backward_depth or threading.get_ident() != self._main:
            return
        if module in self.roots:
            self._labels.model(module)
            self._labels.cache(output)
            if self._marks.phase == "forward":
                self._marks.enter("loss")

    def _learn(self, root) -> None:
        """Name all modules below a root. A larger root's names win over those of its parts."""
        for name, module in root.named_modules():
            name = clean(unwrapped(name))
            had = self._names.get(id(module))
            if had is None or had[0]() is not module or len(name) > len(had[1]):
                self._names[id(module)] = weakref.ref(module), name or type(root).__name__

    def _name(self, module, stack) -> str:
        known = self._names.get(id(module))
        if known is not None and known[0]() is module:
            return known[1]
        if not stack:
            self._learn(module)
            return self._names[id(module)][1]
        name = stack[-1][1] + "." + type(module).__name__
        self._names[id(module)] = weakref.ref(module), name
        return name

    def _watch(self, value, name: str, kind: str) -> None:
        """Mark the backward pass where the gradient of a tensor is ready.

        A module's backward begins when the gradient of its output is there and
        ends when that of its input is. A hook on the tensor changes nothing in
        what autograd allocates; one hook serves all modules that share the tensor.
        """
        tensor = first_tensor(value, self._torch.Tensor)
        if tensor is None:
            return
        with self._aside():
            self._hook_tensor(tensor, name, kind)

    def _hook_tensor(self, tensor, name: str, kind: str) -> None:
        made = tensor.grad_fn
        if made is None:
            return
        local = self._local
        shared = local.hooked
        if shared is not None and shared[0]() is tensor and shared[2] == tensor._version:
            shared[1].append((kind, name))
            return
        events = [(kind, name)]
        marks = self._marks

        def arrived(gradient):
            for kind, name in reversed(events):
                marks.add(kind, "b", name)

        if tensor._backward_hooks is None and hasattr(made, "_register_hook_dict"):
            tensor._backward_hooks = hooks = OrderedDict()  # as Tensor.register_hook does, without a handle
            made._register_hook_dict(tensor)
            hooks[OWN] = arrived
        else:
            tensor.register_hook(arrived)
        local.hooked = weakref.ref(tensor), events, tensor._version


def keywords(module) -> dict:
    """Keyword arguments of the call that a global hook, which is not given them, belongs to."""
    frame = sys._getframe(1)
    for _ in range(6):
        frame = frame.f_back
        if frame is None:
            return {}
        if frame.f_code.co_name in ("_call_impl", "inner") and frame.f_locals.get("self") is module:
            return frame.f_locals.get("kwargs") or {}
    return {}


def unwrapped(name: str) -> str:
    """A qualified name without what wrappers add to it."""
    return ".".join(part for part in name.split(".") if part not in WRAPPERS)


def first_tensor(value, kind):
    """The first tensor in what a module takes or returns, or None."""
    for _ in range(4):
        if isinstance(value, kind):
            return value
        if isinstance(value, dict):
            value = next((v for v in value.values() if isinstance(v, kind)), None)
        elif isinstance(value, (tuple, list)) and value:
            value = next((v for v in value if isinstance(v, kind)), value[0])
        else:
            return None
    return None


def version(torch) -> tuple:
    """PyTorch's version as two numbers."""
    parts = torch.__version__.split("+")[0].split(".")
    return int(parts[0]), int("".join(c for c in parts[1] if c.isdigit()))


def compiling_test(torch):
    """What Dynamo reads as a constant: True while it traces."""
    compiler = getattr(torch, "compiler", None)
    test = getattr(compiler, "is_dynamo_compiling", None) or getattr(compiler, "is_compiling", None)
    return test or (lambda: False)
