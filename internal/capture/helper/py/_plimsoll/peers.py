"""Collectives without peers: one process plays rank R of N, or several share only their store.

The process group is PyTorch's own NCCL one, so that its buffers are allocated
as on a real machine; below it the virtual GPU's NCCL moves nothing. What goes
through it as Python objects goes through the store instead.
"""
from __future__ import annotations

import functools
import inspect
import pickle

from . import imports

ANSWER = b"\x07" * 128  # what an absent peer would have stored: an NCCL id has 128 bytes


def watch(settings) -> None:
    """Change torch.distributed as soon as it is there."""
    imports.after("torch.distributed.distributed_c10d", functools.partial(_change, settings))
    if settings.world > 0:
        imports.after("torch.multiprocessing.spawn", functools.partial(_one_of, settings.rank))


def _change(settings, module) -> None:
    for name in ("broadcast_object_list", "all_gather_object", "gather_object", "scatter_object_list"):
        if hasattr(module, name):
            setattr(module, name, _objects(module, name, settings.world > 0))
    # A split communicator would not know how many ranks it has.
    if hasattr(module, "_get_split_source"):
        module._get_split_source = lambda *args, **kwargs: None
    if hasattr(module, "split_group"):
        module.split_group = _made_anew(module)
    if settings.world > 0:
        module.init_process_group = _init(module, settings)
        _without_gloo(module)


def _made_anew(module):
    """split_group as groups of their own, which a device mesh makes of a bound device's group."""
    inner = module.split_group
    signature = inspect.signature(inner)

    @functools.wraps(inner)
    def split_group(*args, **kwargs):
        given = signature.bind(*args, **kwargs).arguments
        if not given.get("split_ranks"):
            return inner(*args, **kwargs)  # which says what is wrong
        parent = given.pop("parent_pg", None) or module._get_default_group()
        ranks, own = module.get_process_group_ranks(parent), module.GroupMember.NON_GROUP_MEMBER
        for part in given.pop("split_ranks"):
            members = [ranks[n] for n in part]
            group = module.new_group(members, **given)
            if module.get_rank() in members:
                own = group
        return own

    return split_group


def _init(module, settings):
    inner = module.init_process_group
    signature = inspect.signature(inner)

    @functools.wraps(inner)
    def init_process_group(*args, **kwargs):
        given = signature.bind_partial(*args, **kwargs).arguments
        module._plimsoll_store = _store(module, settings.world)  # C++ would keep no more than its own half of it
        given = dict(given, store=module._plimsoll_store, rank=settings.rank, world_size=settings.world)
        given.pop("init_method", None)
        return inner(**given)

    return init_process_group


def _store(module, world: int):
    class Alone(module.Store):
        """Holds what this rank stores, and answers for ranks that are not there."""

        def __init__(self) -> None:
            super().__init__()
            self._held: dict = {}

        def set(self, key, value):
            self._held[key] = value.encode() if isinstance(value, str) else bytes(value)

        def get(self, key):
            return self._held.get(key, ANSWER)

        def add(self, key, amount):
            count = self._held.get(key)
            if isinstance(count, int):
                count += amount
            else:
                count = amount * world if amount == 1 else amount  # all have arrived
            self._held[key] = count
            return count

        def compare_set(self, key, expected, desired):
            self.set(key, desired)
            return self._held[key]

        def check(self, keys):
            return all(key in self._held for key in keys)

        def wait(self, keys, timeout=None):
            return None

        def delete_key(self, key):
            return self._held.pop(key, None) is not None

        def num_keys(self):
            return len(self._held)

        def set_timeout(self, timeout):
            return None

        def append(self, key, value):
            self._held[key] = self._held.get(key, b"") + (value.encode() if isinstance(value, str) else bytes(value))

        def multi_get(self, keys):
            return [self.get(key) for key in keys]

        def multi_set(self, keys, values):
            for key, value in zip(keys, values):
                self.set(key, value)

        def has_extended_api(self):
            return False

    return Alone()


def _without_gloo(module) -> None:
    """Gloo connects to its peers when it is made; PyTorch's fake group does not."""
    fake = getattr(module, "FakeProcessGroup", None)
    if fake is None:
        try:
            from torch._C._distributed_c10d import FakeProcessGroup as fake
        except ImportError:
            return  # PyTorch 2.0

    def make(rank, size):
        create = getattr(fake, "_create_internal", None)
        return create(rank, size) if create else fake(rank, size)

    if hasattr(module, "_create_gloo_process_group"):
        module._create_gloo_process_group = lambda opts, options=None: make(opts.group_rank, opts.group_size)
    else:
        module.ProcessGroupGloo = lambda store, rank, size, *args, **kwargs: make(rank, size)


def _one_of(rank: int, module) -> None:
    """A script that starts its ranks itself: this process is the one that runs."""

    def start_processes(fn, args=(), nprocs=1, join=True, daemon=False, start_method="spawn"):
        fn(rank, *args)
        return None

    module.start_processes = start_processes


class _Exchange:
    """Objects passed through the store, one numbered round for each call in a group."""

    def __init__(self, module, alone: bool) -> None:
        self._module = module
        self._alone = alone
        self._rounds: dict = {}

    def all(self, value, group) -> list:
        """What each rank of the group gave, in order."""
        module = self._module
        size, rank = module.get_world_size(group), module.get_rank(group)
        if self._alone:
            return [value] * size
        store = module._get_default_store() if hasattr(module, "_get_default_store") else module._get_default_group().store
        ranks = module.get_process_group_ranks(group) if hasattr(module, "get_process_group_ranks") else list(range(size))
        name = "-".join(map(str, ranks))
        number = self._rounds[name] = self._rounds.get(name, 0) + 1
        key = "plimsoll/%s/%d/" % (name, number)
        store.set(key + str(rank), pickle.dumps(value))
        return [value if r == rank else pickle.loads(store.get(key + str(r))) for r in range(size)]


def _objects(module, name: str, alone: bool):
    inner = getattr(module, name)
    signature = inspect.signature(inner)
    exchange = _exchange_of(module, alone)

    @functools.wraps(inner)
    def call(*args, **kwargs):
        given = signature.bind(*args, **kwargs)
        given.apply_defaults()
        given = given.arguments
        group = given.get("group")
        backend = "alone" if alone else str(module.get_backend(group))
        if "nccl" not in backend and backend != "alone":
            return inner(*args, **kwargs)  # gloo moves bytes for real
        group = module._get_default_group() if group is None else group
        if module.get_rank(group) < 0:
            return None
        return _pass_objects(module, name, exchange, group, given)

    return call


def _exchange_of(module, alone: bool):
    found = vars(module).get("_plimsoll_exchange")
    if found is None:
        found = module._plimsoll_exchange = _Exchange(module, alone)
    return found


def _pass_objects(module, name: str, exchange: _Exchange, group, given) -> None:
    rank = module.get_rank(group)
    source = given.get("group_src")
    if source is None:
        source = given.get("src", given.get("dst", 0)) or 0
        if hasattr(module, "get_process_group_ranks"):
            ranks = module.get_process_group_ranks(group)
            source = ranks.index(source) if source in ranks else 0
    if name == "broadcast_object_list":
        objects = given["object_list"]
        objects[:] = objects if exchange._alone else exchange.all(list(objects) if rank == source else None, group)[source]
    elif name == "all_gather_object":
        given["object_list"][:] = exchange.all(given["obj"], group)
    elif name == "gather_object":
        gathered = exchange.all(given["obj"], group)
        if given.get("object_gather_list") is not None:
            given["object_gather_list"][:] = gathered
    elif name == "scatter_object_list":
        inputs = exchange.all(given["scatter_object_input_list"], group)[rank if exchange._alone else source]
        if inputs:
            given["scatter_object_output_list"][0] = inputs[rank]
