"""Starts Plimsoll's helper in each Python that a capture runs, then the user's own sitecustomize.

Python imports a module of this name at every start. The folder of this file
stands first in PYTHONPATH, so it hides another sitecustomize further along
sys.path; that one is run as if this one were not there.
"""
from __future__ import annotations


def _run_next() -> None:
    import importlib.machinery
    import importlib.util
    import os
    import sys

    here = os.path.dirname(os.path.abspath(__file__))
    rest = [p for p in sys.path if os.path.abspath(p or os.curdir) != here]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", rest)
    if spec is None or spec.loader is None:
        return
    module = importlib.util.module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


try:
    import _plimsoll

    _plimsoll.start()
except Exception as error:  # the script must run whatever happens to us
    import sys

    sys.stderr.write("plimsoll: helper: %s: %s\n" % (type(error).__name__, error))
_run_next()
