"""Record what DistributedDataParallel takes from PyTorch's allocator beside the model.

usage: record_ddp.py OUT.json.gz

Run it as record.py. Spans, in record.py's words: making the wrapper ("construct"),
and each of three calls from the wrapper's entry to the module's ("forward"). "ready"
is the order in which the first backward pass finished the gradients. A world of one
is a real NCCL group; a larger one is the fake group, and only made.
"""
import gzip
import json
import os
import sys

import torch
import torch.distributed as dist

from record import DTYPES, Events, card, forked


class Touch(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, p):
        ctx.save_for_backward(p)
        return x.view_as(x)

    @staticmethod
    def backward(ctx, g):
        return g, torch.zeros_like(ctx.saved_tensors[0])


class Model(torch.nn.Module):
    def __init__(self, case):
        super().__init__()
        for i, (shape, element, kind) in enumerate(case["tensors"]):
            t = torch.zeros(shape, dtype=DTYPES.get(element, torch.int64), device="cuda")
            if kind == "buffer":
                self.register_buffer(f"t{i}", t)
            else:
                self.register_parameter(f"t{i}", torch.nn.Parameter(t, requires_grad=kind == "trained"))
        self.order = case.get("order")

    def forward(self, x):
        self.entered()
        params = [p for p in self.parameters() if p.requires_grad]
        for i in self.order or range(len(params)):
            x = Touch.apply(x, params[i])
        return x


def measure(case):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(29600 + os.getpid() % 1000))
    torch.cuda.set_device(0)
    if case["world"] == 1:
        dist.init_process_group("nccl", rank=0, world_size=1)
    else:
        from torch.testing._internal.distributed.fake_pg import FakeStore
        dist.init_process_group("fake", rank=0, world_size=case["world"], store=FakeStore())
    model = Model(case)
    x = torch.zeros(1, device="cuda", requires_grad=True)
    events = Events()
    events.skip()
    ddp = torch.nn.parallel.DistributedDataParallel(model, device_ids=[0])
    out = {"construct": events.span()}
    if case["world"] > 1:
        return out
    out["forward"], ready = [], []
    params = [p for p in model.parameters() if p.requires_grad]
    for i, p in enumerate(params):
        p.register_post_accumulate_grad_hook(lambda _, i=i: ready.append(i))
    model.entered = lambda: out["forward"].append(events.span())
    for _ in range(3):
        events.skip()
        ddp(x).sum().backward()
        out.setdefault("ready", list(ready))
        ddp.zero_grad()
    return out


def tensors(shapes, kinds=("trained",), elements=(4,)):
    return [[s, elements[i % len(elements)], kinds[i % len(kinds)]] for i, s in enumerate(shapes)]


SMALL = [[7, 5], [5], [1], [], [33, 17], [64, 64]]
LAYERS = [[300 + 37 * i % 1900, 1000] if i % 2 else [1 + 97 * i] for i in range(60)]
BIG = [[40000, 1024], [1024], [10000, 1024], [30000, 1024], [3, 3], [70000, 1024], [5], [6], [60000, 1024], [20000, 1024], [20000, 1024], [30000, 1024]]


def cases():
    buffers = [[[64], 4, "buffer"], [[64], 4, "buffer"], [[], 8, "buffer"], [[100], 4, "buffer"], [[], 8, "buffer"]]
    yield {"id": "small", "tensors": tensors(SMALL), "world": 1}
    yield {"id": "small/8", "tensors": tensors(SMALL), "world": 8}
    yield {"id": "buffers", "tensors": tensors(SMALL) + buffers, "world": 1}
    yield {"id": "one-buffer", "tensors": tensors(SMALL) + buffers[:1], "world": 1}
    yield {"id": "frozen", "tensors": tensors(LAYERS, ("frozen", "trained", "trained")), "world": 1}
    yield {"id": "layers", "tensors": tensors(LAYERS), "world": 1}
    yield {"id": "layers/order", "tensors": tensors(LAYERS), "world": 1, "order": [(7 * i + 3) % 60 for i in range(60)]}
    yield {"id": "layers/mixed", "tensors": tensors(LAYERS, elements=(4, 2, 2)), "world": 1}
    yield {"id": "layers/bf16", "tensors": tensors(LAYERS, elements=(2,)), "world": 1}
    yield {"id": "big", "tensors": tensors(BIG) + buffers, "world": 1}
    yield {"id": "big/mixed", "tensors": tensors(BIG, ("trained", "trained", "frozen"), (4, 2)), "world": 1}


def main():
    recorded = []
    for case in cases():
        res = forked(lambda: measure(case))
        print(case["id"], res.get("error", ""), flush=True)
        recorded.append({**case, **res})
    text = json.dumps({"torch": torch.__version__, "device": forked(card), "cases": recorded})
    with gzip.GzipFile(sys.argv[1], "wb", mtime=0) as f:
        f.write(text.encode())


main()
