"""LoRA adapters, as PEFT adds them to a model, with marks for each layer."""
import contextlib
import sys

import torch

sys.modules["bitsandbytes"] = None  # starts CUDA, which only children may

import peft  # noqa: E402


def preload():
    """Lets PEFT import what it looks for when it is first used."""
    config = peft.LoraConfig(r=1, target_modules=["0"])
    peft.get_peft_model(torch.nn.Sequential(torch.nn.Linear(1, 1)), config)
    del sys.modules["bitsandbytes"]


def adapt(model, job, stacks, marks):
    marks.enter("load", "adapters")
    config = peft.LoraConfig(r=job["dims"]["A"], target_modules=job["lora"])
    with marked(model, stacks, marks):
        model = peft.get_peft_model(model, config)
    if job.get("checkpoint") == "full":
        model.enable_input_require_grads()
    return model


class Watch:
    """Marks when the module that is worked on belongs to another layer than the one before."""

    def __init__(self, stacks, marks):
        self.marks, self.stacks = marks, stacks
        self.begin()

    def begin(self):
        self.now, self.layer_of = None, {}
        for name, modules, count, _ in self.stacks:
            for i, layer in enumerate(modules if len(modules) == count else []):
                for m in layer.modules():
                    self.layer_of[id(m)] = (name, i)

    def at(self, module, verb):
        where = self.layer_of.get(id(module))
        if where == self.now:
            return
        if self.now and (not where or where[0] != self.now[0]):
            self.marks.part(f"{self.now[0]}.{verb}ed")
        if where:
            self.marks.part(f"{where[0]}.{verb}", where[1])
        self.now = where

    def end(self, verb):
        self.at(None, verb)


@contextlib.contextmanager
def marked(model, stacks, marks):
    """PEFT goes through the modules twice: it injects adapters, then casts them."""
    watch, create, walk = Watch(stacks, marks), peft.LoraModel._create_and_replace, model.modules

    def create_marked(self, config, name, target, *args, **kwargs):
        watch.at(target, "adapt")
        create(self, config, name, target, *args, **kwargs)

    def cast(self, *args, **kwargs):
        watch.end("adapt")
        watch.begin()
        model.modules = modules
        try:
            done(self, *args, **kwargs)
        finally:
            del model.modules
        watch.end("cast")

    def modules():
        for m in walk():
            watch.at(m, "cast")
            yield m

    done = peft.LoraModel._cast_adapter_dtype
    peft.LoraModel._create_and_replace, peft.LoraModel._cast_adapter_dtype = create_marked, cast
    try:
        yield
    finally:
        peft.LoraModel._create_and_replace, peft.LoraModel._cast_adapter_dtype = create, done
