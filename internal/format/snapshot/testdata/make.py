"""Makes the snapshots beside this file: python3 make.py [DIRECTORY].

Each is what PyTorch would write for a small program of random allocations,
kept by a model of its allocator, in one of the shapes in which such files
come. NAME.json holds what is true about NAME.pickle; the history of most
files begins in the middle, and the state before it is part of that truth.
"""
from __future__ import annotations

import itertools
import json
import pickle
import random
import struct
import sys
from pathlib import Path

KIB, MIB = 1 << 10, 1 << 20
SMALL, LARGE = 2 * MIB, 20 * MIB


class Block:
    def __init__(self, addr: int, size: int) -> None:
        self.addr, self.size = addr, size
        self.requested, self.state, self.frames = 0, "inactive", []


class Segment:
    def __init__(self, addr: int, size: int, stream: int, small: bool, expandable: bool, frames: list) -> None:
        self.addr, self.size, self.stream = addr, size, stream
        self.small, self.expandable, self.frames = small, expandable, frames
        self.blocks = [Block(addr, size)]


class Device:
    """One device: the rules of the caching allocator that a layout depends on."""

    def __init__(self, number: int, base: int, expandable: bool, rnd: random.Random, stacks: list) -> None:
        self.number, self.next, self.expandable, self.rnd, self.stacks = number, base, expandable, rnd, stacks
        self.segments: list[Segment] = []
        self.events: list[dict] = []
        self.states: list[list] = []  # the layout before each event
        self.time = 1_700_000_000_000_000

    def event(self, action: str, addr: int, size: int, stream: int, frames: list, **more) -> None:
        self.states.append(self.layout())
        self.time += self.rnd.randrange(1, 2000)
        e = {"action": action, "addr": addr, "size": size, "stream": stream, "time_us": self.time}
        if action == "oom":
            del e["addr"]
            e["device_free"] = addr
        e.update(more)
        e["frames"] = frames
        self.events.append(e)

    def layout(self) -> list[str]:
        """The segments as the tests compare them: free memory that touches is one piece."""
        out = []
        for s in sorted(self.segments, key=lambda s: s.addr):
            out.append(f"{s.addr} {s.size} stream {s.stream} {'small' if s.small else 'large'}"
                       + (" expandable" if s.expandable else ""))
            for free, blocks in itertools.groupby(s.blocks, key=lambda b: b.state == "inactive"):
                if free:
                    out.append(f"  {sum(b.size for b in blocks)} free")
                else:
                    out += [f"  {b.addr} {b.size} {b.requested} {b.state}" for b in blocks]
        return out

    def grow(self, rounded: int, stream: int, small: bool, frames: list) -> tuple[Segment, Block]:
        if self.expandable:
            page = SMALL if small else LARGE
            size = (rounded + page - 1) // page * page
            for s in self.segments:  # at the end of the stream's range
                if s.stream == stream and s.small == small:
                    last = s.blocks[-1]
                    missing = rounded - (last.size if last.state == "inactive" else 0)
                    size = (missing + page - 1) // page * page
                    self.event("segment_map", s.addr + s.size, size, stream, frames)
                    s.size += size
                    if last.state == "inactive":
                        last.size += size
                        return s, last
                    s.blocks.append(Block(s.addr + s.size - size, size))
                    return s, s.blocks[-1]
        else:
            size = SMALL if small else LARGE if rounded < 10 * MIB else (rounded + SMALL - 1) // SMALL * SMALL
        addr = self.next
        self.next += (1 << 36) if self.expandable else size + 64 * MIB
        self.event("segment_map" if self.expandable else "segment_alloc", addr, size, stream, frames)
        s = Segment(addr, size, stream, small, self.expandable, frames)
        self.segments.append(s)
        return s, s.blocks[0]

    def alloc(self, requested: int, stream: int, **more) -> Block:
        frames = self.rnd.choice(self.stacks)
        rounded = max(512, (requested + 511) // 512 * 512)
        small = rounded <= MIB
        fits = [
            (b.size, b.addr, s, b)
            for s in self.segments if s.stream == stream and s.small == small
            for b in s.blocks if b.state == "inactive" and b.size >= rounded
        ]
        if fits:
            _, _, s, b = min(fits, key=lambda f: f[:2])
        else:
            s, b = self.grow(rounded, stream, small, frames)
        rest = b.size - rounded
        if rest >= 512 if small or self.expandable else rest > MIB:
            s.blocks.insert(s.blocks.index(b) + 1, Block(b.addr + rounded, rest))
            b.size = rounded
        self.event("alloc", b.addr, requested, stream, frames, **more)
        b.requested, b.state, b.frames = requested, "active_allocated", frames
        return b

    def find(self, addr: int) -> tuple[Segment, Block]:
        return next((s, b) for s in self.segments for b in s.blocks if b.addr == addr)

    def request_free(self, addr: int) -> None:
        s, b = self.find(addr)
        self.event("free_requested", addr, b.requested, s.stream, b.frames)
        b.state = "active_pending_free"

    def complete_free(self, addr: int) -> None:
        s, b = self.find(addr)
        self.event("free_completed", addr, b.requested, s.stream, b.frames)
        b.state = "inactive"
        i = s.blocks.index(b)
        for j in (i, i - 1):  # join with the next, then with the one before
            if 0 <= j < len(s.blocks) - 1 and {s.blocks[j].state, s.blocks[j + 1].state} == {"inactive"}:
                s.blocks[j].size += s.blocks.pop(j + 1).size

    def empty_cache(self) -> None:
        for s in sorted(self.segments, key=lambda s: (s.size, s.addr)):
            if len(s.blocks) == 1 and s.blocks[0].state == "inactive" and not s.expandable:
                self.event("segment_free", s.addr, s.size, s.stream, s.frames)
                self.segments.remove(s)
        for s in list(self.segments):
            if s.expandable and s.blocks[-1].state == "inactive":
                page, last = SMALL if s.small else LARGE, s.blocks[-1]
                whole = (s.addr + s.size) - (last.addr + page - 1 - (last.addr - s.addr - 1) % page)
                if whole <= 0:
                    continue
                self.event("segment_unmap", s.addr + s.size - whole, whole, s.stream, s.frames)
                s.size -= whole
                last.size -= whole
                if last.size == 0:
                    s.blocks.pop()
                if s.size == 0:
                    self.segments.remove(s)

    def run(self, steps: int, streams: list[int], **more) -> None:
        pending: list[int] = []
        for _ in range(steps):
            live = [b.addr for s in self.segments for b in s.blocks if b.state == "active_allocated"]
            dice = self.rnd.random()
            if dice < 0.02:
                self.empty_cache()
            elif dice < 0.55 or not live:
                size = int(2 ** self.rnd.uniform(2, 24.5))
                self.alloc(size, self.rnd.choice(streams), **more)
            else:
                addr = self.rnd.choice(live)
                self.request_free(addr)
                pending.append(addr)
                if self.rnd.random() < 0.8:
                    while pending:
                        self.complete_free(pending.pop())

    def snapshot(self) -> list:
        out = []
        for s in sorted(self.segments, key=lambda s: s.addr):
            used = [b for b in s.blocks if b.state != "inactive"]
            out.append({
                "device": self.number, "address": s.addr, "total_size": s.size,
                "allocated_size": sum(b.size for b in used if b.state == "active_allocated"),
                "active_size": sum(b.size for b in used), "requested_size": sum(b.requested for b in used),
                "stream": s.stream, "segment_type": "small" if s.small else "large", "segment_pool_id": (0, 0),
                "is_expandable": s.expandable, "frames": s.frames,
                "blocks": [{"address": b.addr, "size": b.size, "requested_size": b.requested, "state": b.state,
                            "frames": b.frames} for b in s.blocks],
            })
        return out


def make_stacks(rnd: random.Random, count: int) -> list:
    """Stacks share their frames, as PyTorch's do."""
    frames = [{"name": f"layer_{i}", "filename": f"/model/part_{i % 7}.py", "line": 10 * i} for i in range(30)]
    frames.append({"name": "??", "filename": "??", "line": 0})
    return [[]] + [rnd.sample(frames, rnd.randrange(1, 12)) for _ in range(count)]


SETTINGS = {
    "PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:False", "max_split_size": -1,
    "garbage_collection_threshold": 0.5, "expandable_segments": False, "pinned_num_register_threads": 1,
    "roundup_power2_divisions": {str(1 << i): 0 for i in range(16)},
}


def truth(devices: list[Device], cut: list[int]) -> dict:
    return {
        "devices": [
            {"device": d.number, "events": len(d.events) - c,
             "initial": d.states[c] if c < len(d.states) else d.layout(), "final": d.layout()}
            for d, c in zip(devices, cut) if d.events or d.segments
        ],
    }


def program(seed: int, expandable: bool, base: int, streams: list[int], steps: int = 400, **more) -> Device:
    rnd = random.Random(seed)
    d = Device(0, base, expandable, rnd, make_stacks(rnd, 25))
    d.run(steps, streams, **more)
    return d


def whole(devices: list[Device], cut: list[int]) -> dict:
    return {
        "segments": [s for d in devices for s in d.snapshot()],
        "device_traces": [d.events[c:] for d, c in zip(devices, cut)],
        "allocator_settings": SETTINGS,
        "external_annotations": [
            {"stage": "START", "name": "Optimizer.step#AdamW.step", "device": 0, "time_us": 1_700_000_000_001_000},
            {"stage": "END", "name": "Optimizer.step#AdamW.step", "device": 0, "time_us": 1_700_000_000_002_000},
        ],
    }


class CppWriter:
    """Mirrors torch/csrc/jit/serialization/pickler.cpp: one MARK for a whole
    container, strings memoised by value, containers only when they are shared
    and after their contents, integers over 32 bits in eight bytes."""

    def __init__(self, root) -> None:
        self.out, self.strings, self.memo, self.count, self.times = bytearray(b"\x80\x02"), {}, {}, 0, {}
        self.census(root)
        self.put(root)
        self.out += b"."

    def census(self, v) -> None:
        if isinstance(v, (dict, list)):
            self.times[id(v)] = self.times.get(id(v), 0) + 1
            if self.times[id(v)] == 1:
                for x in (v.values() if isinstance(v, dict) else v):
                    self.census(x)

    def memoise(self) -> int:
        self.out += b"q" + bytes([self.count]) if self.count < 256 else b"r" + struct.pack("<I", self.count)
        self.count += 1
        return self.count - 1

    def get(self, n: int) -> None:
        self.out += b"h" + bytes([n]) if n < 256 else b"j" + struct.pack("<I", n)

    def put(self, v) -> None:
        if v is None:
            self.out += b"N"
        elif isinstance(v, bool):
            self.out += b"\x88" if v else b"\x89"
        elif isinstance(v, int):
            if 0 <= v < 256:
                self.out += b"K" + bytes([v])
            elif 0 <= v < 65536:
                self.out += b"M" + struct.pack("<H", v)
            elif -(1 << 31) <= v < 1 << 31:
                self.out += b"J" + struct.pack("<i", v)
            else:
                self.out += b"\x8a\x08" + struct.pack("<Q", v % (1 << 64))
        elif isinstance(v, float):
            self.out += b"G" + struct.pack(">d", v)
        elif isinstance(v, str):
            if v in self.strings:
                return self.get(self.strings[v])
            text = v.encode()
            self.out += b"X" + struct.pack("<I", len(text)) + text
            self.strings[v] = self.memoise()
        elif isinstance(v, tuple):
            for x in v:
                self.put(x)
            self.out += b"\x86"
        elif id(v) in self.memo:
            self.get(self.memo[id(v)])
        else:
            self.out += b"}(" if isinstance(v, dict) else b"]("
            for x in ((y for kv in v.items() for y in kv) if isinstance(v, dict) else v):
                self.put(x)
            self.out += b"u" if isinstance(v, dict) else b"e"
            if self.times[id(v)] > 1:
                self.memo[id(v)] = self.memoise()


def first_versions(d: Device) -> list:
    """The list of segments of PyTorch 1.13 and 2.0: no addresses of blocks,
    and what each served as a history."""
    out = d.snapshot()
    for s in out:
        del s["frames"], s["segment_pool_id"], s["is_expandable"]
        for b in s["blocks"]:
            if b["requested_size"]:
                b["history"] = [{"addr": b["address"], "real_size": b["requested_size"], "frames": b["frames"]},
                                {"addr": b["address"], "real_size": 1, "frames": []}]
            del b["address"], b["frames"], b["requested_size"]
    return out


def main(out: Path) -> None:
    def write(name: str, data: bytes, facts: dict) -> None:
        (out / f"{name}.pickle").write_bytes(data)
        (out / f"{name}.truth.json").write_text(json.dumps(facts, indent=0) + "\n")

    for protocol in range(2, 6):
        d = program(protocol, False, 0x7F0000000000, [0, 0x5555AAAA0000])
        write(f"protocol{protocol}", pickle.dumps(whole([d], [150]), protocol), truth([d], [150]))

    devices = [
        program(11, True, 0x300000000, [0], steps=120), program(12, False, 0x7F1200000000, [0, 9], steps=100),
        Device(2, 0, False, random.Random(0), []),
    ]
    devices[1].number = 1
    several = whole(devices, [60, 0, 0])
    write("several-devices", pickle.dumps(several, 4), truth(devices, [60, 0, 0]))
    (out / "several-devices.json").write_text(json.dumps(several, sort_keys=True))

    d = program(21, False, 0x7F0000000000, [0])
    write("cpp-writer", bytes(CppWriter(whole([d], [100])).out), truth([d], [100]))
    d = program(22, True, 0x7F0000000000, [0, 3])
    write("cpp-writer-high-addresses", bytes(CppWriter(whole([d], [0])).out), truth([d], [0]))
    d = program(23, False, 0xFF00000000000000, [0])
    write("nine-byte-addresses", pickle.dumps(whole([d], [50]), 4), truth([d], [50]))

    # Before the first event a block that was not split lies before free memory.
    d = program(1058, False, 0x7F0000000000, [0, 5], steps=600)
    cut = len(d.events) * 6 // 11
    write("unsplit-remainder", pickle.dumps(whole([d], [cut]), 4), truth([d], [cut]))

    d = program(31, False, 0x7F0000000000, [0], compile_context="N/A", user_metadata="", pool_id=(0, 0), novel="key")
    d.events[-1]["compile_context"] = "0/1"
    d.event("oom", 12345678, 1 << 33, 0, d.stacks[1])
    d.event("annotate", d.segments[0].addr, 0, 0, d.stacks[1], user_metadata="mine")
    d.event("teleport", 1, 2, 0, [])
    newest = whole([d], [90])
    newest["host_segments"] = [{"address": 1, "blocks": [{"size": 1}]}]
    newest["host_traces"] = [{"action": "alloc", "addr": 4096, "size": 16}]
    newest["allocator_settings"] = dict(SETTINGS, novel=[1, 2.5, None])
    write("newest", pickle.dumps(newest, 5), truth([d], [90]))

    d = program(41, False, 0x7F0000000000, [0], steps=120)
    write("first-versions", pickle.dumps(first_versions(d), 4), truth([d], [len(d.events)]))
    d.events.clear()
    write("no-history", pickle.dumps(whole([d], [0]), 4), {"devices": [dict(truth([d], [0])["devices"][0], initial=d.layout())]})

    d = program(51, False, 0x7F0000000000, [0], steps=1)
    d.events = [dict(e, frames=[dict(f) for f in e["frames"]]) for e in d.events]
    write("one-event", pickle.dumps(whole([d], [len(d.events) - 1]), 4), truth([d], [len(d.events) - 1]))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
