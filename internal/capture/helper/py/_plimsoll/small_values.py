"""Computes small tensors for real, so that values can steer the script.

The virtual GPU computes nothing. Where all inputs of a call are small, the same
call is made once more on CPU tensors that lie on the same memory, and .item(),
bool() and tolist() read what they should. Large tensors count as zeros.

It is a torch function mode: it sees what Python calls and is out of the way
of autograd, so that PyTorch allocates the same with it and without.
"""
from __future__ import annotations

import os
import types

import torch
from torch.overrides import TorchFunctionMode

from . import operators
from .host_views import INTEGERS, SMALL_BYTES, Views
from .modules import version
from .plain_checks import PlainChecks

Tensor = torch.Tensor
PLAIN = (torch.Tensor, torch.nn.Parameter)
FAILURES = 20  # of one function, before it is left alone
UNIFORM = "_plimsoll_uniform"  # attribute of a large tensor whose elements all have one value other than zero
SCANNED = 1 << 22  # elements of a CPU tensor that are looked at for that
tracing = torch._C._get_tracing_state  # torch.jit.trace would record the mirror's own work
transforms = torch._C._functorch.peek_interpreter_stack  # in vmap or grad of torch.func tensors have no memory of their own


class Mirror(TorchFunctionMode):
    """The mode. One per process; each thread that works on tensors may have it on."""

    def __init__(self, notes, blank, sized) -> None:
        super().__init__()
        self.views = None  # set when CUDA is up
        self.compiled = False
        self.notes = notes
        self.blank = blank
        self.sized = sized
        self.out_of_memory = lambda error: None  # told of each that passes
        self._kinds: dict = {}
        self._failures: dict = {}
        self._seed = torch.Generator()
        self._checks = PlainChecks(self)

    def start(self) -> None:
        """CUDA is up: begin to compute."""
        self.views = Views()
        self.see_indexing()

    def see_indexing(self) -> None:
        """PyTorch 2.0 does not tell modes of reading by index: let Tensor's own method tell."""
        inner = torch._C._TensorBase.__getitem__ if hasattr(torch._C, "_TensorBase") else None
        if inner is None or version(torch) >= (2, 1):
            return
        mirror, whole = self, torch._C.DisableTorchFunction

        def __getitem__(self, index):
            if mirror.views is None or not has_tensor(index) or type(self) not in PLAIN:
                return inner(self, index)
            with whole():
                return mirror._sized(inner, (self, index), {})

        torch.Tensor.__getitem__ = __getitem__

    def close(self) -> None:
        """Compute nothing any more."""
        if self.views is not None:
            self.views.close()
        self.views = None
        self.lift()

    def push(self) -> None:
        """Turn the mode on in this thread, below all other modes."""
        self.put_back(torch._C._len_torch_function_stack() + 1)

    def lift(self) -> int:
        """Take the mode off in this thread. The result, for put_back, is 0 where it was not on."""
        above = []
        found = 0
        for _ in range(torch._C._len_torch_function_stack()):
            mode = torch.overrides._pop_mode()
            if mode is self:
                found = len(above) + 1
                break
            above.append(mode)
        for mode in reversed(above):
            torch.overrides._push_mode(mode)
        if found:
            self._checks.remove()
        return found

    def put_back(self, place: int) -> None:
        """Undo lift."""
        above = [torch.overrides._pop_mode() for _ in range(place - 1)]
        torch.overrides._push_mode(self)
        for mode in reversed(above):
            torch.overrides._push_mode(mode)
        self._checks.put()

    def __torch_function__(self, func, types, args=(), kwargs=None):
        handle = self._kinds.get(func)
        if handle is None:
            handle = self._kinds[func] = self._kind(func)
        try:
            if handle is passed or tracing() or transforms() is not None:
                return func(*args, **kwargs) if kwargs else func(*args)
            if self.views is not None and self.views._lost:
                self.views.settle()
            return handle(func, args, kwargs or {})
        except torch.cuda.OutOfMemoryError as error:
            self.out_of_memory(error)
            raise

    def _kind(self, func):
        name = name_of(func)
        handle = self._handler(name)
        instead = self.blank.handler(name, handle) if self.blank else None
        return instead or handle

    def _handler(self, name: str):
        for names, handle in (
            (operators.PASSED, passed),
            (operators.SYNCS, self._sync),
            (operators.SIZED, self._sized),
            (operators.SPARSE, self._sparse),
            (operators.FACTORIES, self._made),
            (operators.COPIES, self._copied),
            (operators.PREDICATES, self._predicate),
            (operators.REDUCTIONS, self._reduced),
        ):
            if name in names:
                return handle
        if name == "multinomial" and version(torch) < (2, 4):
            return self._drawn
        special = {"copy_": self._copy_into, "fill_": self._filled, "zero_": self._filled, "__setitem__": self._set_item}
        if name in operators.SAME_WHEN_ZERO:
            return self._same
        return special.get(name, self._computed)

    # Each handler makes the real call, and only that can raise.

    def _computed(self, func, args, kwargs):
        inputs = self.inputs(args, kwargs)
        out = func(*args, **kwargs)
        if inputs:
            self._shadow(func, args, kwargs, inputs, out)
        elif inputs is None:
            self.clear(out, args)
        return out

    def _drawn(self, func, args, kwargs):
        """multinomial, which before PyTorch 2.4 asks the device whether its input is valid.

        The question makes the same allocations as on a real device, and is
        answered with no; what follows it there is done here (ATen/native/Distributions.cpp).
        """
        try:
            return self._computed(func, args, kwargs)
        except RuntimeError as error:
            given = dict(zip(("input", "num_samples", "replacement"), args), **kwargs)
            source, count = given["input"], given["num_samples"]
            if "probability tensor contains" not in str(error) or not source.is_cuda:
                raise
        (source.sum() if source.dim() == 1 else (source.sum(1) == 0).sum())
        drawn = torch.empty_like(source).exponential_(1)
        torch.div(source, drawn, out=drawn)
        out = drawn.argmax(-1, keepdim=True) if count == 1 else drawn.topk(count)[1]
        inputs = self.inputs((source,), {})
        if inputs:
            self._shadow(func, args, kwargs, inputs, out)
        else:
            self.clear(out)
        return out

    def _predicate(self, func, args, kwargs):
        inputs = self.inputs(args, kwargs)
        out = func(*args, **kwargs)
        if inputs:
            self._shadow(func, args, kwargs, inputs, out)
        elif inputs is None and type(out) is Tensor:
            self.clear(out, args)
            self._attempt(func, self._spread, func, args, kwargs, out)
        return out

    def _reduced(self, func, args, kwargs):
        inputs = self.inputs(args, kwargs)
        out = func(*args, **kwargs)
        if inputs:
            self._shadow(func, args, kwargs, inputs, out)
        elif inputs is None:
            self.clear(out, args)
            if args and hasattr(args[0], UNIFORM):
                self._attempt(func, self._sum_up, name_of(func), args[0], out)
        return out

    def _same(self, func, args, kwargs):
        inputs = self.inputs(args, kwargs)
        out = func(*args, **kwargs)
        if inputs is None:
            return operators.SAME_WHEN_ZERO[name_of(func)]
        if inputs:
            return self._attempt(func, self._answer, func, args, kwargs, out)
        return out

    def _sync(self, func, args, kwargs):
        source = args[0] if args else None
        if self.views is None or type(source) not in PLAIN or not source.is_cuda:
            return func(*args, **kwargs)
        self.notes.sync(name_of(func).strip("_"))
        out = func(*args, **kwargs)
        return self._attempt(func, self._read, source, out)

    def _read(self, source, out):
        """What a tensor on the device reads as."""
        if self.views.small(source):
            return self.views.view(source.detach()).tolist() if type(out) is list else out
        value = getattr(source, UNIFORM, 0)
        if type(out) is list:
            return torch.full((), value, dtype=source.dtype).expand(source.shape).tolist()
        return type(out)(value) if isinstance(out, (bool, int, float, complex)) else out

    def _sized(self, func, args, kwargs):
        if self.views is None:
            return func(*args, **kwargs)
        return self.sized.call(self, func, args, kwargs)

    def _sparse(self, func, args, kwargs):
        """A sparse tensor has no elements here: its size is not known."""
        if self.views is not None and args and isinstance(args[0], Tensor) and args[0].is_cuda:
            self.notes.dependent(name_of(func), False)
            self.views.scrub()
        return func(*args, **kwargs)

    def _made(self, func, args, kwargs):
        out = func(*args, **kwargs)
        if self.views is None or type(out) not in PLAIN or not out.is_cuda:
            return out
        if self.views.small(out):
            self._attempt(func, self._make, func, args, kwargs, out)
        else:
            self._attempt(func, self._make_uniform, name_of(func), args, kwargs, out)
        return out

    def _copied(self, func, args, kwargs):
        out = func(*args, **kwargs)
        source = args[0] if args else None
        if self.views is None or out is source or type(source) not in PLAIN or type(out) not in PLAIN:
            return out
        if source.is_cuda or out.is_cuda:
            if not out.is_cuda:
                self.notes.sync("cpu")
            self._attempt(func, self._transfer, out, source)
        return out

    def _copy_into(self, func, args, kwargs):
        out = func(*args, **kwargs)
        if self.views is not None and len(args) > 1 and type(args[0]) in PLAIN and type(args[1]) in PLAIN:
            if args[0].is_cuda or args[1].is_cuda:
                if not args[0].is_cuda:
                    self.notes.sync("copy_")
                self._attempt(func, self._transfer, args[0], args[1])
        return out

    def _filled(self, func, args, kwargs):
        target = args[0]
        if type(target) in PLAIN and target.is_cuda and self.views is not None and not self.views.small(target):
            out = func(*args, **kwargs)
            value = args[1] if len(args) > 1 else kwargs.get("value", 0)
            if target.untyped_storage().nbytes() == target.numel() * self.views.item(target.dtype):
                self._attempt(func, mark_uniform, target, value)
            return out
        return self._computed(func, args, kwargs)

    def _set_item(self, func, args, kwargs):
        target = args[0]
        if self.views is None or type(target) not in PLAIN or not target.is_cuda:
            return func(*args, **kwargs)
        if not self.views.small(target):
            out = func(*args, **kwargs)
            self._attempt(func, self._erase_item, args)
            return out
        self.sized.look_at_index(self, args[0], args[1], "__setitem__")
        return self._computed(func, args, kwargs)

    # What follows works on memory, and may raise: the result then stays as it was.

    def _attempt(self, func, work, *args):
        threads = torch.get_num_threads()
        torch.set_num_threads(1)  # others would be started, and waited for, for a few thousand elements
        try:
            return work(*args)
        except Exception as error:
            count = self._failures[func] = self._failures.get(func, 0) + 1
            if os.environ.get("PLIMSOLL_HELPER_DEBUG"):
                import sys

                sys.stderr.write("plimsoll: helper: mirror of %s: %s: %s\n" % (name_of(func), type(error).__name__, error))
            if count == FAILURES:
                self._kinds[func] = passed
        finally:
            torch.set_num_threads(threads)
        return args[-1] if args else None

    def _shadow(self, func, args, kwargs, inputs, out) -> None:
        self._attempt(func, self._compute, func, args, kwargs, inputs, out)

    def _compute(self, func, args, kwargs, inputs, out) -> None:
        views = self.views
        try:
            result = self.on_host(func, args, kwargs, self._host)
        except RuntimeError as error:
            if not any(word in str(error) for word in ("dtype", "not implemented for", "scalar type")):
                raise
            result = self.on_host(func, args, kwargs, self._host_wide)  # autocast, or a type that the CPU lacks
            if any(out is i for i in inputs):
                views.view(out).copy_(result)
        exact = all(map(views.exact, inputs))
        if out is None:
            for target in args[0] if isinstance(args[0], (tuple, list)) else args[:1]:
                views.keep(target, exact)
            return
        for o, r in zip(out, result) if isinstance(out, (tuple, list)) else ((out, result),):
            self._put(o, r, inputs, exact)

    def _put(self, out, result, inputs, exact: bool) -> None:
        if isinstance(out, (tuple, list)):
            for o, r in zip(out, result):
                self._put(o, r, inputs, exact)
            return
        if type(out) not in PLAIN or not out.is_cuda or not self.views.small(out):
            return
        if not any(out is i for i in inputs) and type(result) is Tensor:
            pointer = out.untyped_storage().data_ptr()
            if any(i.untyped_storage().data_ptr() == pointer for i in inputs):
                return  # a view: its memory is computed already
            self.views.view(out).copy_(result)
        self.views.keep(out, exact)

    def _answer(self, func, args, kwargs, out):
        result = self.on_host(func, args, kwargs)
        return result if type(result) is type(out) else out

    def _make(self, func, args, kwargs, out) -> None:
        name = name_of(func)
        if name in ("zeros", "zeros_like", "new_zeros"):
            self.views.erase(out)
        else:
            host = dict(kwargs, device="cpu")
            host.pop("pin_memory", None)
            if name.startswith("new_"):
                args = (torch.empty(0, dtype=args[0].dtype),) + args[1:]
            elif name.endswith("_like"):
                args = (torch.empty(out.shape, dtype=args[0].dtype),) + args[1:]
            elif name == "normal" and any(type(a) in PLAIN for a in args):
                host.pop("device")
            self.views.view(out).copy_(self.on_host(func, args, host))
        self.views.keep(out, True)

    def _make_uniform(self, name, args, kwargs, out) -> None:
        value = operators.UNIFORM.get(name)
        if isinstance(value, tuple):
            place, keyword = value
            value = args[place] if len(args) > place else kwargs.get(keyword, 0)
        if value is not None:
            mark_uniform(out, value)
        elif name in ("tensor", "as_tensor", "asarray", "new_tensor"):
            source = args[1] if name == "new_tensor" else args[0]
            if not isinstance(source, Tensor):
                source = torch.as_tensor(source)
            self._transfer(out, source)

    def _transfer(self, out, source) -> None:
        """Contents of a copy between host and device."""
        views, out, source = self.views, out.detach(), source.detach()
        if out.is_cuda and not views.small(out):
            if not source.is_cuda and source.numel() <= views.limits[out.dtype]:
                views.erase(out)  # a small copy into a large tensor was real
            elif out.dtype in INTEGERS and out.numel() == source.numel():
                mark_uniform(out, uniform_of(source))
            return
        if source.is_cuda and not views.small(source):
            if out.is_cuda:
                views.erase(out)
            elif source.numel() * views.item(source.dtype) <= SMALL_BYTES or hasattr(source, UNIFORM):
                out.fill_(getattr(source, UNIFORM, 0))
            return
        if out.untyped_storage().data_ptr() == source.untyped_storage().data_ptr():
            return
        target = views.view(out) if out.is_cuda else out
        target.copy_(views.view(source) if source.is_cuda else source)
        if out.is_cuda:
            views.keep(out, not source.is_cuda or views.exact(source))

    def _erase_item(self, args) -> None:
        value = args[2]
        if isinstance(value, Tensor) and not value.is_cuda and not has_tensor(args[1]):
            self.views.erase(args[0].detach()[args[1]])

    def _spread(self, func, args, kwargs, out) -> None:
        """A predicate of large tensors that are all one value is one value."""
        single = [torch.tensor(getattr(a, UNIFORM, 0), dtype=a.dtype) if self.is_large(a) else a for a in args]
        if any(type(a) in PLAIN and a.is_cuda for a in single):
            return  # beside a small tensor with values of its own
        value = func(*single, **kwargs)
        if value.numel() == 1 and bool(value):
            setattr(out, UNIFORM, True)

    def _sum_up(self, name, source, out) -> None:
        value = getattr(source, UNIFORM)
        if not isinstance(out, Tensor):
            out = out[0]
        count = source.numel() // max(out.numel(), 1)
        value = {"sum": value * count, "nansum": value * count, "count_nonzero": count, "prod": 1, "any": True, "all": True}.get(name, value)
        if self.views.small(out):
            self.views.view(out).fill_(value)
            self.views.keep(out, False)
        else:
            mark_uniform(out, value)

    def clear(self, out, args=()) -> None:
        """Make the small results of a call with large inputs read as zeros; kernels wrote nothing there."""
        if type(out) is tuple or type(out) is list:
            for o in out:
                self.clear(o, args)
        elif type(out) is Tensor and out.is_cuda and out.numel() <= self.views.limits[out.dtype]:
            if not any(out is a for a in args):
                self.views.erase(out)

    def is_large(self, value) -> bool:
        """True for a device tensor that counts as one value."""
        return type(value) in PLAIN and value.is_cuda and not self.views.small(value)

    def inputs(self, args, kwargs):
        """The device tensors of a call; None when one is large or of no plain type; empty without a device."""
        views = self.views
        if views is None:
            return ()
        limits, found = views.limits, []
        for a in args if not kwargs else (*args, *kwargs.values()):
            kind = type(a)
            if kind in PLAIN:
                if a.is_cuda:
                    if a.numel() > limits[a.dtype]:
                        return None
                    found.append(a)
            elif kind is tuple or kind is list:
                for b in a:
                    if type(b) in PLAIN:
                        if b.is_cuda:
                            if b.numel() > limits[b.dtype]:
                                return None
                            found.append(b)
                    elif isinstance(b, Tensor):
                        return None
            elif isinstance(a, Tensor):
                return None
        for a in found:
            if not views.small(a):
                return None
        return found

    def on_host(self, func, args, kwargs, host=None):
        """The same call on the CPU's view of the same memory."""
        name, host = name_of(func), host or self._host
        args = [host(a) for a in args]
        kwargs = {k: host(v) for k, v in kwargs.items()}
        if name in operators.SEEDED:
            kwargs["generator"] = self._seed
        if name in operators.UNSEEDED:
            state = torch.get_rng_state()
            try:
                return func(*args, **kwargs)
            finally:
                torch.set_rng_state(state)
        return func(*args, **kwargs)

    def _host_wide(self, value):
        """As _host, with copies in single precision of what is in a narrower one."""
        if isinstance(value, (tuple, list)):
            return [self._host_wide(v) for v in value]
        value = self._host(value)
        if isinstance(value, Tensor) and value.is_floating_point() and value.element_size() < 4:
            return value.float()
        return value

    def _host(self, value):
        kind = type(value)
        if kind in PLAIN:
            return self.views.view(value) if value.is_cuda else value.detach()
        if kind is tuple:
            return tuple([self._host(v) for v in value])
        if kind is list:
            return [self._host(v) for v in value]
        if kind is slice:
            return slice(self._host(value.start), self._host(value.stop), self._host(value.step))
        if kind is torch.device:
            return torch.device("cpu")
        if kind is str and value.startswith("cuda"):
            return "cpu"
        if kind is torch.Generator:
            return self._seed
        return value


def passed(func, args, kwargs):
    """Make the call and nothing else."""
    return func(*args, **kwargs)


def name_of(func) -> str:
    """A function's bare name; of an operator overload, its operator's."""
    name = getattr(func, "__name__", "") or ""
    return name.split(".")[0] if not isinstance(func, types.FunctionType) else name


def has_tensor(index) -> bool:
    """True when an index holds tensors or lists, and so makes no view."""
    if isinstance(index, tuple):
        return any(map(has_tensor, index))
    return isinstance(index, (Tensor, list)) or type(index).__module__ == "numpy" and getattr(index, "ndim", 0) > 0


def mark_uniform(tensor, value) -> None:
    """Remember that all elements of a large tensor have one value; zero needs no mark."""
    if isinstance(value, Tensor):
        if value.is_cuda:
            return
        value = value.item()
    if value:
        setattr(tensor, UNIFORM, value)
    elif hasattr(tensor, UNIFORM):
        delattr(tensor, UNIFORM)


def uniform_of(source):
    """The one value of all elements of a tensor, or 0."""
    if source.is_cuda:
        return getattr(source, UNIFORM, 0)
    if not source.numel() or source.numel() > SCANNED:
        return 0
    value = source.flatten()[0].item()
    return value if value and bool((source == value).all()) else 0
