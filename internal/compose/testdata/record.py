"""Record what optimizers, clipping and gradient scaling take from PyTorch's allocator.

usage: record.py OUT.json.gz [--card] [CASE ...]

Run it with a Python that has PyTorch and bitsandbytes, and under the virtual GPU for a given card
(internal/capture/vgpu/vgpuenv). Every case runs in a forked child: parameters of
odd shapes, three steps of gradients, and for each span (the optimizer's making,
each step from the end of backward to zero_grad) the allocator's own events, in
order. "a512" is a block of 512 requested bytes; blocks are numbered as they come;
"f3" gives block 3 back. With --card, only cases that may depend on the card.
"""
import gzip
import json
import os
import sys

import torch

# Shapes: of one element, without dimensions, odd, tied sizes, above 1 MiB, of more
# than two dimensions, and on both sides of where reductions are split.
LISTS = {
    "small": [[7, 5], [5], [1], [], [33, 17], [64, 64], [64], [700, 401], [401], [2, 3, 5, 7], [1, 9], [9, 1], [4, 1, 3], [1, 5, 7]],
    "tall": [[1024, 257], [257], [300, 1000], [3000, 130], [16, 3, 7, 7], [5000, 3], [3, 5000], [2, 40000], [40000, 2], [8, 300, 70]],
    "large": [[128256, 1024], [1024], [5000, 3001], [8, 512, 1000], [512, 512, 3, 3], [512, 256, 1, 1], [1000003], [50257, 768], [100, 768], [1024, 4096], [4096, 1024]],
    "many": [[i % 7 + 1, i % 11 + 2] if i % 3 else [i + 1] for i in range(150)],
    "alone": [[1000, 70]],
    "huge": [[262144, 3072], [3072], [700000001], [16, 16384, 4096]],
    "vast": [[500000, 4096], [20, 16384, 4096], [2400000001]],
}
DTYPES = {2: torch.bfloat16, 4: torch.float32}


def optimizers():
    o = torch.optim
    made = {
        "sgd": lambda p, **k: o.SGD(p, lr=0.1, **k),
        "sgd-momentum": lambda p, **k: o.SGD(p, lr=0.1, momentum=0.9, **k),
        "adam": lambda p, **k: o.Adam(p, lr=1e-4, **k),
        "adamw": lambda p, **k: o.AdamW(p, lr=1e-4, **k),
        "rmsprop": lambda p, **k: o.RMSprop(p, lr=1e-4, **k),
        "adagrad": lambda p, **k: o.Adagrad(p, lr=1e-4, **k),
        "adafactor": lambda p, **k: o.Adafactor(p, lr=1e-4, **k),
    }
    names = {}
    for name, make in made.items():
        names[name] = make
        if name != "adafactor":  # a loop by default
            names[name + "-forloop"] = lambda p, make=make: make(p, foreach=False)
        if name not in ("rmsprop", "adafactor"):
            names[name + "-fused"] = lambda p, make=make: make(p, fused=True)
    names["adam-8bit"] = lambda p: bitsandbytes("Adam8bit", p)
    names["adamw-8bit"] = lambda p: bitsandbytes("AdamW8bit", p)
    names["paged-adamw-8bit"] = lambda p: bitsandbytes("PagedAdamW8bit", p)
    names["lion"] = lambda p: bitsandbytes("Lion", p)
    names["lion-8bit"] = lambda p: bitsandbytes("Lion8bit", p)
    return names


def bitsandbytes(name, params):
    import bitsandbytes.optim  # touches CUDA, so not before the fork
    return getattr(bitsandbytes.optim, name)(params, lr=1e-4)


class Events:
    """The allocator's events, span by span."""

    def __init__(self):
        torch.cuda.memory._record_memory_history(context=None, max_entries=10**7)
        self.seen = 0
        self.ids = {}
        self.count = 0

    def trace(self):
        return torch.cuda.memory._snapshot()["device_traces"][0]

    def skip(self):
        self.seen = len(self.trace())

    def span(self):
        trace = self.trace()
        out = []
        for e in trace[self.seen:]:
            if e["action"] == "alloc":
                self.ids[e["addr"]] = self.count
                self.count += 1
                out.append("a%d" % e["size"])
            elif e["action"] == "free_completed":
                out.append("f%s" % self.ids.pop(e["addr"], "?"))
        self.seen = len(trace)
        return " ".join(out)


def sharded(world):
    """A function that makes a tensor the first rank's shard of a larger one."""
    import torch.distributed as dist
    from torch.distributed.tensor import DTensor, Shard
    from torch.testing._internal.distributed.fake_pg import FakeStore
    dist.init_process_group("fake", rank=0, world_size=world, store=FakeStore())
    mesh = dist.init_device_mesh("cuda", (world,))
    return lambda t: DTensor.from_local(t, mesh, [Shard(0)], run_check=False)


def measure(case):
    params = []
    shard = sharded(case["shards"]) if case.get("shards") else lambda t: t
    for i, shape in enumerate(LISTS[case["list"]]):
        dtype = DTYPES[case["elements"][i % len(case["elements"])]]
        p = torch.zeros(shape, dtype=dtype, device="cuda")
        if case.get("channels_last") and p.dim() == 4:
            p = p.contiguous(memory_format=torch.channels_last)
        params.append(torch.nn.Parameter(shard(p)))
    missing = set(case.get("missing", []))
    events = Events()
    events.skip()
    opt = optimizers()[case["optimizer"]](params)
    out = {"construct": events.span(), "steps": []}
    scaler = torch.amp.GradScaler("cuda") if case.get("scaler") else None
    loss = torch.ones((), device="cuda", requires_grad=True)
    for _ in range(3):
        for i, p in enumerate(params):
            p.grad = None if i in missing else torch.zeros_like(p)
        if scaler:
            events.skip()
            scaled = scaler.scale(loss)
            out.setdefault("scale", []).append(events.span())
            del scaled
        events.skip()
        if case.get("clip"):
            if scaler:
                scaler.unscale_(opt)
            torch.nn.utils.clip_grad_norm_(params, 1.0)
        if scaler:
            scaler.step(opt)
            scaler.update()
        else:
            opt.step()
        out["steps"].append(events.span())
        opt.zero_grad(set_to_none=True)
    return out


MIXED = [4, 2, 4, 4]


def cases(depends):
    """All cases, or those that may depend on the card."""
    if not depends:
        for name in optimizers():
            yield {"id": name + "/small", "optimizer": name, "list": "small", "elements": [4], "missing": [4]}
            yield {"id": name + "/mixed", "optimizer": name, "list": "small", "elements": MIXED, "missing": [0, 3]}
            yield {"id": name + "/tall-bf16", "optimizer": name, "list": "tall", "elements": [2]}
            yield {"id": name + "/scaler", "optimizer": name, "list": "small", "elements": [4], "scaler": True}
            yield {"id": name + "/scaler-clip", "optimizer": name, "list": "small", "elements": [4], "scaler": True, "clip": True}
        for which in ("many", "alone"):
            for element in (4, 2):
                yield {"id": f"clip/{which}-{element}", "optimizer": "sgd", "list": which, "elements": [element], "clip": True}
        yield {"id": "clip/mixed", "optimizer": "sgd", "list": "small", "elements": MIXED, "clip": True}
        yield {"id": "clip/channels-last", "optimizer": "adamw", "list": "large", "elements": [4], "clip": True, "channels_last": True}
        for name in ("sgd-momentum", "adamw", "adamw-fused", "adamw-forloop", "rmsprop", "adagrad"):
            yield {"id": name + "/shards", "optimizer": name, "list": "tall", "elements": [4], "clip": True, "shards": 8}
        yield {"id": "adamw/shards-bf16", "optimizer": "adamw", "list": "tall", "elements": [2], "clip": True, "shards": 8}
        yield {"id": "adamw/shards-mixed", "optimizer": "adamw", "list": "tall", "elements": MIXED, "clip": True, "shards": 8}
    for which in ("tall", "large"):
        for element in (4, 2):
            yield {"id": f"clip/{which}-{element}", "optimizer": "sgd", "list": which, "elements": [element], "clip": True}
            yield {"id": f"adafactor/{which}-{element}", "optimizer": "adafactor", "list": which, "elements": [element]}
    for element in (4, 2):
        yield {"id": f"adafactor/huge-{element}", "optimizer": "adafactor", "list": "huge", "elements": [element], "clip": True}
    yield {"id": "adafactor/vast-2", "optimizer": "adafactor", "list": "vast", "elements": [2]}
    yield {"id": "adamw/scaler-clip/large", "optimizer": "adamw", "list": "large", "elements": [4], "scaler": True, "clip": True}
    yield {"id": "adamw-fused/scaler-clip/large", "optimizer": "adamw-fused", "list": "large", "elements": [4], "scaler": True, "clip": True}


def forked(f):
    rd, wr = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(rd)
        try:
            res = f()
        except Exception as e:
            res = {"error": repr(e)[:300]}
        with os.fdopen(wr, "w") as pipe:
            json.dump(res, pipe)
        os._exit(0)
    os.close(wr)
    with os.fdopen(rd) as pipe:
        text = pipe.read()
    os.waitpid(pid, 0)
    return json.loads(text)


def card():
    p = torch.cuda.get_device_properties(0)
    return {"Capability": p.major * 10 + p.minor, "Multiprocessors": p.multi_processor_count,
            "ThreadsPerMultiprocessor": p.max_threads_per_multi_processor}


def main():
    out, depends = sys.argv[1], "--card" in sys.argv
    only = [a for a in sys.argv[2:] if a != "--card"]
    recorded = []
    for case in cases(depends):
        if only and not any(case["id"].startswith(o) for o in only):
            continue
        res = forked(lambda: measure(case))
        print(case["id"], res.get("error", ""), flush=True)
        recorded.append({**case, **res})
    used = {c["list"] for c in recorded}
    text = json.dumps({"torch": torch.__version__, "device": forked(card),
                       "lists": {k: v for k, v in LISTS.items() if k in used}, "cases": recorded})
    with gzip.GzipFile(out, "wb", mtime=0) as f:
        f.write(text.encode())


if __name__ == "__main__":
    main()
