"""Makes the snapshots beside this file: python make.py CASE FILE.pickle.

Each is a small program with one known trouble, run by PyTorch on a GPU or on
the virtual one:

    go run ./internal/capture/vgpu/vgpuenv --python PYTHON --gpu-cc 80 --sms 108 \\
        --capacity BYTES -- PYTHON internal/explain/testdata/make.py CASE FILE

leak       a list keeps the loss of every step, and with it the step's graph
hoard      a list keeps a copy of every step's output, without its graph
full       a batch that is too large for 512 MiB
holes      small blocks that stay keep large segments from going back; 256 MiB
stream     the free memory that would do belongs to another stream; 256 MiB
steps      four good steps of AdamW
evaluate   three steps, then six batches with gradients, whose outputs are kept
limited    the driver has more, but the process may take only 64 MiB of 4 GiB
graph      a CUDA graph, before which the cache is given back
"""
from __future__ import annotations

import pickle
import sys
from pathlib import Path

import torch
from torch import nn

MIB = 1 << 20


def model(width: int) -> nn.Module:
    return nn.Sequential(nn.Linear(width, 4 * width), nn.ReLU(), nn.Linear(4 * width, width)).cuda()


def train(steps: int, batch: int, width: int, keep=None) -> None:
    net = model(width)
    optimizer = torch.optim.AdamW(net.parameters())
    for _ in range(steps):
        x = torch.randn(batch, width, device="cuda")
        out = net(x)
        loss = out.square().mean()
        if keep is not None:
            keep(loss, out)
        loss.backward(retain_graph=keep is not None)
        optimizer.step()
        optimizer.zero_grad()


def leak() -> None:
    losses = []
    train(8, 1024, 256, lambda loss, out: losses.append(loss))


def hoard() -> None:
    outputs = []
    train(8, 1024, 256, lambda loss, out: outputs.append(out.detach().clone()))


def full() -> None:
    train(3, 1024, 512)
    train(1, 24 * 1024, 512)


def holes() -> None:
    spare, kept = [], []
    for _ in range(10):  # each pair fills a segment of 20 MiB
        spare.append(torch.empty(9 * MIB, dtype=torch.uint8, device="cuda"))
        kept.append(torch.empty(9 * MIB, dtype=torch.uint8, device="cuda"))
    spare.clear()
    big = torch.empty(60 * MIB, dtype=torch.uint8, device="cuda")
    del big, kept


def stream() -> None:
    other = torch.cuda.Stream()
    with torch.cuda.stream(other):
        big = torch.empty(200 * MIB, dtype=torch.uint8, device="cuda")
        del big
        kept = torch.empty(20 * MIB, dtype=torch.uint8, device="cuda")  # of the 200 MiB, which it keeps
    mine = torch.empty(120 * MIB, dtype=torch.uint8, device="cuda")
    del kept, mine


def steps() -> None:
    train(4, 256, 256)


def evaluate() -> None:
    net = model(256)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(3):
        net(torch.randn(1024, 256, device="cuda")).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
    outputs = [net(torch.randn(1024, 256, device="cuda")) for _ in range(6)]
    torch.cuda.memory._dump_snapshot(sys.argv[2])  # while they are there
    assert outputs
    sys.exit(anonymous(sys.argv[2]))


def limited() -> None:
    torch.cuda.set_per_process_memory_fraction(64 * MIB / torch.cuda.get_device_properties(0).total_memory)
    kept = [torch.empty(12 * MIB, dtype=torch.uint8, device="cuda") for _ in range(8)]
    del kept


def graph() -> None:
    net = model(512)
    x = torch.randn(256, 512, device="cuda")
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        net(x).square().mean().backward()
    torch.cuda.current_stream().wait_stream(side)
    for p in net.parameters():
        p.grad = None
    captured = torch.cuda.CUDAGraph()
    with torch.cuda.graph(captured):
        net(x).square().mean().backward()
    captured.replay()


def validate() -> None:
    """As evaluate, but the outputs are gone when it ends."""
    net = model(256)
    train_once(net, 1)
    outputs = [net(torch.randn(1024, 256, device="cuda")) for _ in range(6)]
    del outputs
    train_once(net, 1)


def train_once(net: nn.Module, parts: int) -> None:
    total = sum(net(torch.randn(1024, 256, device="cuda")).square().mean() for _ in range(parts))
    total.backward()
    for p in net.parameters():
        p.grad = None


def summed() -> None:
    """The losses of eight micro-batches are summed before one backward."""
    net = model(256)
    for _ in range(3):
        train_once(net, 8)


def detached() -> None:
    """A list keeps the output of every step, without its graph."""
    net, outputs = model(256), []
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(8):
        out = net(torch.randn(1024, 256, device="cuda"))
        outputs.append(out.detach())
        out.square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()


def grown() -> None:
    """Of 6 GiB, as a segment that can grow: the hole is larger than what the last block can grow to."""
    hole, pin, end = (torch.empty(n * MIB, dtype=torch.uint8, device="cuda") for n in (3600, 20, 100))
    del hole, end
    served = torch.empty(60 * MIB, dtype=torch.uint8, device="cuda")
    del pin, served


def anonymous(path: str) -> None:
    """Takes this machine's folders out of a snapshot."""
    folders = {str(Path(__file__).resolve().parent): "/home/user/project", sys.prefix: "/home/user/venv", sys.base_prefix: "/usr"}

    def clean(value):
        if isinstance(value, dict):
            return {k: clean(v) for k, v in value.items()}
        if isinstance(value, list):
            return [clean(v) for v in value]
        if isinstance(value, str):
            for folder, name in folders.items():
                value = value.replace(folder, name)
            return known.setdefault(value, value)
        return value

    known: dict[str, str] = {}
    with open(path, "rb") as f:
        data = clean(pickle.load(f))
    with open(path, "wb") as f:
        pickle.dump(shared(data, {}), f, 4)


def shared(value, known: dict):
    """Lets equal frames and stacks be one object, as PyTorch writes them."""
    if isinstance(value, dict):
        out = {k: shared(v, known) for k, v in value.items()}
        return known.setdefault(repr(out), out) if set(out) == {"name", "filename", "line"} else out
    if isinstance(value, list):
        out = [shared(v, known) for v in value]
        return known.setdefault(repr(out), out) if out and isinstance(out[0], dict) and "filename" in out[0] else out
    return value


def main() -> None:
    case, path = sys.argv[1:]
    torch.cuda.memory._record_memory_history(stacks="python")
    try:
        globals()[case]()
    except torch.cuda.OutOfMemoryError as e:
        print(e)
    torch.cuda.memory._dump_snapshot(path)
    anonymous(path)


main()
