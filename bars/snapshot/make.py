"""Makes a large memory snapshot: python make.py FILE MEGABYTES [PROTOCOL].

A transformer encoder of 12 layers trains for four steps with AdamW on the GPU
or the virtual one:

    go run ./internal/capture/vgpu/vgpuenv --python PYTHON --gpu-cc 80 --sms 108 -- \\
        PYTHON bars/snapshot/make.py big.pickle 300

From the third step on every step asks for the same and gets the same
addresses. So the recording of the last step is repeated, with later times,
until the file is as large as asked for: what a program would leave that runs
that long.
"""
from __future__ import annotations

import pickle
import sys

import torch
from torch import nn


def record() -> dict:
    torch.cuda.memory._record_memory_history(stacks="python")
    layer = nn.TransformerEncoderLayer(512, 8, 2048, dropout=0.0, batch_first=True)
    net = nn.TransformerEncoder(layer, 12).cuda()
    optimizer = torch.optim.AdamW(net.parameters())
    for _ in range(4):
        x = torch.randn(8, 128, 512, device="cuda")
        loss = net(x).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        del x, loss
    return torch.cuda.memory._snapshot()


def steps(snapshot: dict) -> list[int]:
    """Where the events of each step end: at the first one after zero_grad."""
    ends = [a["time_us"] for a in snapshot["external_annotations"] if a["name"].startswith("Optimizer.zero_grad") and a["stage"] == "END"]
    events = snapshot["device_traces"][0]
    return [next((i for i, e in enumerate(events) if e["time_us"] > end), len(events)) for end in ends]


def same(a: list[dict], b: list[dict]) -> bool:
    return [(e["action"], e.get("addr"), e["size"]) for e in a] == [(e["action"], e.get("addr"), e["size"]) for e in b]


def main() -> None:
    path, megabytes = sys.argv[1], float(sys.argv[2])
    protocol = int(sys.argv[3]) if len(sys.argv) > 3 else 4
    snapshot = record()
    events = snapshot["device_traces"][0]
    ends = steps(snapshot)
    third, last = events[ends[-3]:ends[-2]], events[ends[-2]:ends[-1]]
    if not same(third, last):
        sys.exit("the last two steps differ, so that one cannot be repeated")
    span = last[-1]["time_us"] - third[-1]["time_us"]
    tail = events[ends[-1]:]
    base = len(pickle.dumps(snapshot, protocol))

    def later(n: int) -> list[dict]:
        return [dict(e, time_us=e["time_us"] + n * span) for e in last]

    def size(n: int) -> int:
        return len(pickle.dumps([later(i) for i in range(n)], protocol))

    one = (size(60) - size(30)) / 30  # references grow from 2 bytes to 5 before that
    count = max(0, int((megabytes * 1e6 - base) / one))
    del events[ends[-1]:]
    for n in range(1, count + 1):
        events += later(n)
    events += [dict(e, time_us=e["time_us"] + count * span) for e in tail]
    with open(path, "wb") as f:
        pickle.dump(snapshot, f, protocol)
    print(len(events), "events,", len(last), "a step")


main()
