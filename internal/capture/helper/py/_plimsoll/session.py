"""One process under capture: its parts, when they begin, and the result that they write."""
from __future__ import annotations

import os
import sys
import time

from . import environment, trackers

STARTED = time.monotonic()
OLDEST = (2, 0)


def begin(torch, settings) -> None:
    """PyTorch was imported: get ready for the moment when CUDA comes up."""
    problem = unsupported(torch)
    if problem:
        _refuse(torch, settings, problem)
        return
    Session(torch, settings).watch()


def unsupported(torch) -> tuple:
    """(code, sentence) when this PyTorch has no CUDA allocator to record; empty when it has."""
    version = torch.__version__
    if getattr(torch.version, "hip", None):
        return "rocm_build", "PyTorch %s is a ROCm build; a capture needs a CUDA build" % version
    if getattr(torch.version, "cuda", None) is None:
        return "cpu_build", "PyTorch %s is a CPU-only build; a capture needs a CUDA build" % version
    from .modules import version as numbers

    if numbers(torch) < OLDEST:
        return "old_torch", "PyTorch %s is too old; a capture needs 2.0 or later" % version
    return ()


class Session:
    """The parts of the helper in one process, and how they hang together."""

    def __init__(self, torch, settings) -> None:
        from .backward import Backward
        from .blank_init import Blank
        from .counter import Counter
        from .dynamo import Dynamo
        from .ending import Ending
        from .flushes import Flushes
        from .fraction import Fraction
        from .history import History
        from .labels import Labels
        from .marks import Marks
        from .modules import Modules
        from .notes import Notes
        from .outofmemory import OutOfMemory
        from .pools import Pools
        from .saves import Saves
        from .scripting import Scripting
        from .sized import Sized
        from .small_values import Mirror
        from .steps import Steps

        self.torch, self.settings = torch, settings
        self.owner = 0  # process in which CUDA came up
        self.imported = time.monotonic() - STARTED
        self.begun = time.monotonic()
        self.step_peaks: list = []
        self.notes = Notes(torch)
        self.counter = Counter(torch)
        self.marks = Marks(self.counter)
        self.labels = Labels(torch, self.marks)
        self.modules = Modules(torch, self.marks, self.labels)
        self.steps = Steps(torch, self.marks, self.labels, self.round_ended)
        self.blank = Blank(self.marks)
        self.mirror = Mirror(self.notes, None if settings.keep_init else self.blank, Sized())
        self.backward = Backward(torch, self.marks, self.modules, self.labels, self.steps, self.mirror)
        self.dynamo = Dynamo(torch, self.mirror, self.modules)
        self.scripting = Scripting(torch, self.mirror)
        self.history = History(torch, settings.max_entries, "all" if settings.operators else "python")
        self.memory = OutOfMemory(torch, self.marks, self.counter, self.notes)
        self.mirror.out_of_memory = self.memory.raised
        self.flushes = Flushes(torch, self.marks)
        self.pools = Pools(torch, self.marks)
        self.fraction = Fraction(torch, self.marks)
        self.ending = Ending(self.write, settings)
        self.saves = Saves(self.notes, self.marks)

    def watch(self) -> None:
        """Be called when CUDA comes up. A process that never uses it is left alone but for this."""
        self.ending.active = lambda: self.owner == os.getpid()
        self.ending.watch()
        self.torch.cuda._lazy_call(self.cuda_came_up)
        if not self.settings.keep_init:
            self.blank.hook()
        if not self.settings.allow_writes:
            self.saves.hook()
        self.modules.hook()
        self.steps.hook()
        self.backward.hook()
        self.dynamo.hook()
        self.scripting.hook()
        if not self.settings.zeros:
            self.mirror.push()
        os.register_at_fork(after_in_child=self.forked)

    def cuda_came_up(self) -> None:
        """Begin to record: nothing has been allocated yet."""
        if self.owner == os.getpid():
            return
        self.owner = os.getpid()
        self.history.start()
        self.counter.begin()
        self.counter.keep_through_resets(self.torch)
        self.marks.add("phase", self.marks.phase)
        self.memory.watch()
        self.ending.watch_signals()
        self.flushes.watch(self.counter.devices)
        self.pools.watch()
        self.fraction.watch()
        if self.settings.timeout:
            self.ending.limit(self.settings.timeout - (time.monotonic() - STARTED))
        if not self.settings.zeros:
            self._start_mirror()

    def _start_mirror(self) -> None:
        try:
            self.mirror.start()
        except (OSError, AttributeError, RuntimeError, ValueError) as error:
            self.mirror.lift()
            self.notes.warn("no_small_values", "small tensors read as zeros: %s" % error)

    def forked(self) -> None:
        """A child of a process with CUDA cannot use it: it has nothing to record, and must not be slowed."""
        self.ending.forked()
        if self.owner:
            self.owner = -1
            self.mirror.close()
            self.modules.pause()

    def round_ended(self, rounds: int, complete: bool) -> None:
        """A round of optimizer steps is done."""
        if self.owner != os.getpid():
            return
        if not self.counter.check():
            self.notes.warn("counter", "allocations were counted by PyTorch's statistics from step %d on" % rounds)
        for device in self.devices():
            allocated, reserved = self.counter.peaks(device)
            self.step_peaks.append({"step": rounds, "device": device, "allocated_peak": allocated, "reserved_peak": reserved})
        with open(os.path.join(self.settings.out, "steps.%d" % os.getpid()), "w") as file:
            file.write(str(rounds))  # for the progress line of who waits
        from .steps import PATIENCE

        if rounds >= self.settings.steps * (1 if complete else PATIENCE):
            self.ending.stop("steps")

    def devices(self) -> list:
        """Devices on which something was allocated."""
        return [d for d in self.counter.devices if self.counter.read(d)]

    def write(self, end: str, code, exception) -> None:
        """Write the files of this process, the result last."""
        import json

        self.mirror.close()
        folder = os.path.join(self.settings.out, "p%d" % os.getpid())
        os.makedirs(folder, exist_ok=True)
        self._place(folder, "snapshot.pickle", self.history.dump)
        temporary = os.path.join(folder, "labels.tmp")
        self._place(folder, "marks.tsv", lambda path: self.marks.write(path, temporary))
        os.replace(temporary, os.path.join(folder, "labels.tsv"))
        result = self.result(end, code, exception)

        def dump(path):
            with open(path, "w", encoding="utf-8") as file:
                json.dump(result, file)

        self._place(folder, "result.json", dump)

    def _place(self, folder: str, name: str, write) -> None:
        temporary = os.path.join(folder, name + ".tmp")
        write(temporary)
        os.replace(temporary, os.path.join(folder, name))

    def result(self, end: str, code, exception) -> dict:
        """The fields of result.json."""
        self._gather_warnings()
        notes = self.notes
        fields = common(self.torch, end, code)
        fields.update(
            exception=exception,
            oom=self.memory.first(exception),
            ooms=self.memory.all(),
            devices=[self._device(d) for d in self.devices()],
            steps=self.step_peaks,
            optimizer=self.steps.name,
            parameters=list(self.labels.parameters.values()) if self.settings.operators else [],
            rounds=self.steps.rounds,
            data_dependent=[dict(op=o, file=f, line=l, count=c, exact=e) for (o, f, l), (c, e) in notes.data.items()],
            syncs=[dict(op=o, file=f, line=l, count=c) for (o, f, l), c in notes.syncs.items()],
            writes=notes.writes,
            warnings=[dict(code=c, message=m) for c, m in notes.warnings.items()],
            seconds={"import": round(self.imported, 3), "run": round(time.monotonic() - self.begun, 3)},
        )
        return fields

    def _gather_warnings(self) -> None:
        notes = self.notes
        for action, what, path in trackers.written:
            notes.wrote(action, what, path)
        if self.marks.dropped:
            notes.warn("marks_dropped", "%d marks were left out" % self.marks.dropped)
        if self.blank.count:
            notes.warn("init_skipped", "initialisers of %d large CPU tensors were left out" % self.blank.count)
        if not self.steps.rounds and self.steps.backwards:
            notes.warn("no_step", "the script ended before its first optimizer step")

    def _device(self, device: int) -> dict:
        stats = self.torch.cuda.memory_stats(device)
        allocated, reserved = self.counter.peaks(device)
        return {
            "index": device,
            "allocated_peak": allocated,
            "reserved_peak": reserved,
            "allocated": stats.get("allocated_bytes.all.current", 0),
            "reserved": stats.get("reserved_bytes.all.current", 0),
            "driver_peak": driver_peak(device),
            "allocations": self.counter.read(device),
            "stats": dict(stats),
        }


def common(torch, end: str, code) -> dict:
    """The fields of result.json that any end has."""
    return {
        "helper": 1,
        "end": end,
        "exit_code": code,
        "torch": torch.__version__,
        "cuda": torch.version.cuda,
        "python": sys.version.split()[0],
        "argv": sys.argv,
        "pid": os.getpid(),
        "rank": int(os.environ.get("RANK", 0) or 0),
        "world": int(os.environ.get("WORLD_SIZE", 1) or 1),
        "visible_devices": environment.devices(),
        "alloc_conf": os.environ.get("PYTORCH_ALLOC_CONF") or os.environ.get("PYTORCH_CUDA_ALLOC_CONF", ""),
    }


def driver_peak(device: int) -> int:
    """Most bytes that the virtual driver handed out at once, without the context; 0 where it cannot be asked."""
    import ctypes

    books = (ctypes.c_uint64 * 4)()
    try:
        ctypes.CDLL(None).plimsoll_vgpu_books(device, books)
    except AttributeError:
        return 0
    return books[1]


def _refuse(torch, settings, problem) -> None:
    import json

    code, message = problem
    sys.stderr.write("plimsoll: %s\n" % message)
    folder = os.path.join(settings.out, "p%d" % os.getpid())
    os.makedirs(folder, exist_ok=True)
    fields = dict(common(torch, "unsupported", 2), warnings=[{"code": code, "message": message}])
    with open(os.path.join(folder, "result.json.tmp"), "w", encoding="utf-8") as file:
        json.dump(fields, file)
    os.replace(os.path.join(folder, "result.json.tmp"), os.path.join(folder, "result.json"))
    sys.stderr.flush()
    os._exit(2)
