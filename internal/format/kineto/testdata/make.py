"""Makes the traces beside this file: python make.py FILE.json [stacks].

Three steps of AdamW under torch.profiler with profile_memory, on a GPU or the
virtual one:

    go run ./internal/capture/vgpu/vgpuenv --python PYTHON --gpu-cc 80 --sms 108 -- \\
        PYTHON internal/format/kineto/testdata/make.py FILE.json
"""
from __future__ import annotations

import json
import sys
from pathlib import Path

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile


def train(steps: int, prof) -> None:
    net = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 64)).cuda()
    optimizer = torch.optim.AdamW(net.parameters())
    for _ in range(steps):
        x = torch.randn(512, 64, device="cuda")
        loss = net(x).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        prof.step()


def main() -> None:
    path = sys.argv[1]
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True, with_stack=len(sys.argv) > 2) as prof:
        train(3, prof)
    prof.export_chrome_trace(path)
    text = Path(path).read_text()
    for folder, name in {str(Path(__file__).resolve().parent): "/home/user/project", sys.prefix: "/home/user/venv", sys.base_prefix: "/usr"}.items():
        text = text.replace(folder, name)
    trace = json.loads(text)
    trace.pop("host_name", None)
    Path(path).write_text(json.dumps(trace, separators=(",", ":")))


main()
