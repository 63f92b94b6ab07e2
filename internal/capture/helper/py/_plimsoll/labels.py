"""What blocks hold: parameters, gradients, optimizer state, inputs, by their pointers."""
from __future__ import annotations

import weakref

from .modules import unwrapped

SMALL = 4096  # elements of a gradient whose contents may lie in host memory
OFTEN = 3  # times that one module's parameters are looked at
PARAMETERS = 100_000  # that are described
LEVELS = 4  # how deep containers are searched for tensors


class Labels:
    """Writes a label once for each block that a tensor came to lie in."""

    def __init__(self, torch, marks) -> None:
        self._torch = torch
        self._marks = marks
        self._seen: dict = {}  # pointer -> (category, bytes, weak reference to the tensor)
        self._names: dict = {}  # id of a parameter -> (weak reference, qualified name)
        self._dtypes: set = set()  # of model parameters
        self._times: dict = {}  # id of an outermost module -> times labelled
        self.parameters: dict = {}  # id of a parameter -> name, shape, type, whether it is trained

    def model(self, module) -> None:
        """Parameters and buffers of an outermost module, the first few times it is called."""
        times = self._times[id(module)] = self._times.get(id(module), 0) + 1
        if times > OFTEN:
            return
        for name, parameter in module.named_parameters():
            name = unwrapped(name)
            self._names[id(parameter)] = weakref.ref(parameter), name
            self._dtypes.add(parameter.dtype)
            if id(parameter) not in self.parameters and len(self.parameters) < PARAMETERS:
                self.parameters[id(parameter)] = name, list(parameter.shape), str(parameter.dtype)[6:], parameter.requires_grad
            self._one("parameter", parameter, name)
            state = getattr(parameter, "quant_state", None)  # bitsandbytes
            if state is not None:
                self._tree("parameter", getattr(state, "__dict__", None), name)
        for name, buffer in module.named_buffers():
            self._one("buffer", buffer, unwrapped(name))

    def gradients(self, views=None) -> None:
        """Gradients of the parameters seen so far. No kernel wrote them: small ones are made to read as zeros."""
        for key, (reference, name) in list(self._names.items()):
            parameter = reference()
            if parameter is None:
                del self._names[key]
                continue
            gradient = parameter.grad
            if gradient is None:
                continue
            self._one("gradient", gradient, name)
            if views is not None and gradient.is_cuda and gradient.numel() <= SMALL and type(gradient) is self._torch.Tensor:
                views.erase(gradient)

    def optimizer(self, optimizer) -> None:
        """State of an optimizer, and parameters of its own: copies of a model's in higher precision."""
        for group in getattr(optimizer, "param_groups", None) or ():
            for parameter in group.get("params", ()):
                self._of_optimizer(optimizer, parameter)

    def inputs(self, args, keywords: dict) -> None:
        """What an outermost module is called with."""
        self._tree("input", args, "")
        for name, value in keywords.items():
            if name != "past_key_values":
                self._tree("input", value, name)

    def cache(self, output) -> None:
        """Keys and values that a model returns for its next call."""
        cache = output.get("past_key_values") if isinstance(output, dict) else getattr(output, "past_key_values", None)
        if cache is None:
            return
        if isinstance(cache, (tuple, list)):
            self._tree("kv_cache", cache, "past_key_values")
            return
        fields = getattr(cache, "__dict__", {})
        for name in ("layers", "key_cache", "value_cache", "self_attention_cache", "cross_attention_cache"):
            self._tree("kv_cache", fields.get(name), "past_key_values")

    def _of_optimizer(self, optimizer, parameter) -> None:
        known = self._names.get(id(parameter))
        if known is None or known[0]() is not parameter:
            higher = parameter.dtype == self._torch.float32 and self._dtypes and self._torch.float32 not in self._dtypes
            self._one("master_weight" if higher else "parameter", parameter, "")
            self._one("gradient", parameter.grad, "")  # the optimizer's own
            name = ""
        else:
            name = known[1]
        state = optimizer.state.get(parameter) if hasattr(optimizer, "state") else None
        for key, value in state.items() if isinstance(state, dict) else ():
            category = "master_weight" if "master" in str(key) else "optimizer_state"
            self._tree(category, value, name + "." + str(key) if name else str(key))

    def _tree(self, category: str, value, name: str, level: int = 0) -> None:
        if isinstance(value, self._torch.Tensor):
            self._one(category, value, name)
        elif level >= LEVELS or value is None:
            return
        elif isinstance(value, dict):
            for inner in value.values():
                self._tree(category, inner, name, level + 1)
        elif isinstance(value, (tuple, list)):
            for inner in value[:4096]:
                self._tree(category, inner, name, level + 1)
        elif type(value).__module__.startswith(("transformers.", "bitsandbytes.")) and hasattr(value, "__dict__"):
            for inner in list(vars(value).values()):
                self._tree(category, inner, name, level + 1)

    def _one(self, category: str, tensor, name: str) -> None:
        if self._torch._C._get_tracing_state() is not None:
            return  # torch.jit.trace would record the questions
        tensor = getattr(tensor, "_local_tensor", tensor)  # DTensor
        if tensor is None or not tensor.is_cuda:
            return
        try:
            storage = tensor.untyped_storage()
            pointer, size = storage.data_ptr(), storage.nbytes()
        except (RuntimeError, NotImplementedError, AttributeError):
            return  # no storage of its own: sparse, functional or fake
        if not pointer:
            return
        had = self._seen.get(pointer)
        if had is not None and had[0] == category and had[1] == size and had[2]() is tensor:
            return
        self._seen[pointer] = category, size, weakref.ref(tensor)
        self._marks.label(tensor.get_device(), category, pointer, size, name)
