"""Marks: where in the stream of allocator events something begins.

A place is the number of events before it: allocations plus frees, which the
allocator counts. Reading the counters allocates nothing.
"""
import torch


def here():
    s = torch._C._cuda_memoryStats(0)["allocation"]["all"]
    return s["allocated"] + s["freed"]


class Marks:
    """list holds [place, scope, part, index]; index is -1 outside of layers.

    modules holds [place, path] where a module's forward begins or, with the
    path of its parent, ends.
    """

    def __init__(self):
        self.list = []
        self.modules = []
        self.scope = ""

    def part(self, name, index=-1):
        self.list.append([here(), self.scope, name, index])

    def enter(self, scope, name):
        self.scope = scope
        self.part(name)


class Layers:
    """Hooks that mark where each layer's forward and backward begin.

    Layers are counted as they are called, so that a module that is used
    several times (ALBERT) is several layers.
    """

    def __init__(self, marks, stacks):
        self.marks, self.next, self.counts = marks, {}, {}
        self.backward = False
        for name, modules, count, _ in stacks:
            self.counts[name] = count
            for module in dict.fromkeys(modules):
                module.register_forward_pre_hook(self.before(name), with_kwargs=True)
                module.register_forward_hook(self.after(name), with_kwargs=True)

    def begin(self):
        self.backward = False
        self.next = dict.fromkeys(self.counts, 0)

    def before(self, stack):
        def hook(module, args, kwargs):
            if self.backward:  # computed again under checkpointing
                return
            i = self.next[stack]
            hidden = first_tensor(args, kwargs)
            if i == 0 and hidden is not None and hidden.requires_grad:
                hidden.register_hook(lambda g: self.marks.part(stack + ".bottom"))
            self.marks.part(stack + ".forward", i)

        return hook

    def after(self, stack):
        def hook(module, args, kwargs, out):
            if self.backward:
                return
            i = self.next[stack]
            self.next[stack] = i + 1
            out = first_tensor((out,) if torch.is_tensor(out) else out, {})
            if out is not None and out.requires_grad:
                out.register_hook(lambda g: self.marks.part(stack + ".backward", i))
            if i == self.counts[stack] - 1:
                self.marks.part(stack + ".top")

        return hook


def first_tensor(args, kwargs):
    for a in list(args) + [kwargs.get("hidden_states")]:
        if torch.is_tensor(a):
            return a
    return None
