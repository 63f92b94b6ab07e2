"""Writes a large snapshot for benchmarks: python3 large.py FILE MEGABYTES [fresh|semi|shared] [PROTOCOL].

fresh: each event has frames of its own; semi: a list of its own of shared
frames; shared: a list that other events share too, as PyTorch writes it.
"""
from __future__ import annotations

import pickle
import random
import sys


def events(kind: str, count: int, rnd: random.Random) -> list[dict]:
    frames = [{"name": f"function_{i}", "filename": f"/site-packages/package/part_{i % 100}.py", "line": i} for i in range(2000)]
    stacks = [rnd.sample(frames, rnd.randrange(20, 60)) for _ in range(1000)]
    out, live, time = [], [], 1_700_000_000_000_000
    free = [0x7F0000000000 + i * 0x200000 for i in range(5000)]
    rnd.shuffle(free)

    def add(action: str, addr: int, size: int, stack: list) -> None:
        nonlocal time
        time += rnd.randrange(1, 50)
        if kind == "fresh":
            stack = [dict(f) for f in stack]
        elif kind == "semi":
            stack = list(stack)
        out.append({"action": action, "addr": addr, "size": size, "stream": 0, "time_us": time,
                    "compile_context": "N/A", "user_metadata": "", "frames": stack})

    while len(out) < count:
        if free and (not live or rnd.random() < 0.5):
            block = (free.pop(), rnd.randrange(1, 1 << 20), rnd.choice(stacks))
            add("alloc", *block)
            live.append(block)
        else:
            i = rnd.randrange(len(live))
            live[i], live[-1] = live[-1], live[i]
            block = live.pop()
            add("free_requested", *block)
            add("free_completed", *block)
            free.append(block[0])
    return out


def main() -> None:
    path, megabytes = sys.argv[1], float(sys.argv[2])
    kind = sys.argv[3] if len(sys.argv) > 3 else "semi"
    protocol = int(sys.argv[4]) if len(sys.argv) > 4 else 4
    rnd = random.Random(1)
    sample = len(pickle.dumps(events(kind, 2000, rnd), protocol)) - len(pickle.dumps(events(kind, 1000, rnd), protocol))
    count = int(megabytes * 1e6 / (sample / 1000))
    with open(path, "wb") as f:
        pickle.dump({"segments": [], "device_traces": [events(kind, count, rnd)], "allocator_settings": {}}, f, protocol)
    print(count, "events")


main()
