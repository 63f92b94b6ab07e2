"""Calls a function right after a module was imported, whoever imports it."""
from __future__ import annotations

import sys

_waiting: dict = {}  # module name -> functions to call with the module


def after(name: str, call) -> None:
    """Have call(module) run once module name is imported; at once if it is already."""
    module = sys.modules.get(name)
    if module is not None and not getattr(getattr(module, "__spec__", None), "_initializing", False):
        _guarded(call, module)
        return
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())
    _waiting.setdefault(name, []).append(call)


def _guarded(call, module) -> None:
    try:
        call(module)
    except Exception as error:  # a script must not fail because a library changed
        sys.stderr.write("plimsoll: helper: after import of %s: %s: %s\n" % (module.__name__, type(error).__name__, error))


class _Finder:
    """Finds nothing itself: lets the others find a module that is waited for, and hooks its loader."""

    def find_spec(self, name, path=None, target=None):
        if name not in _waiting:
            return None
        for finder in list(sys.meta_path):
            find = getattr(finder, "find_spec", None)
            if finder is self or find is None:
                continue
            spec = find(name, path, target)
            if spec is not None:
                return _hooked(spec, name)
        return None


def _hooked(spec, name: str):
    """The spec, whose module calls what waits for it when it is run; many are only looked at, to see what is installed."""
    loader = spec.loader
    execute = getattr(loader, "exec_module", None)
    if execute is None:
        return spec

    def exec_module(module):
        del loader.exec_module  # the loader is as it was for whoever looks at it later
        execute(module)
        for call in _waiting.pop(name, ()):
            _guarded(call, module)

    try:
        loader.exec_module = exec_module
    except AttributeError:  # a built-in module's loader
        pass
    return spec
