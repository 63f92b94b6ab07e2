"""What Plimsoll runs inside the user's own Python while it captures a script.

It records PyTorch's allocations with PyTorch's own history, notes at which
allocation each phase, module and optimizer step began, computes small tensors
for real so that they can steer the script, keeps the script from changing
anything outside the capture, and ends it when enough was seen.

It allocates nothing on a device, and it changes no result that a script could
rely on: on the virtual GPU there are none. Where it cannot work it says so on
stderr and lets the script run.
"""
from __future__ import annotations

from . import imports, settings


def start() -> None:
    """Prepare this process. Costs a few milliseconds; PyTorch is touched only if the script imports it."""
    chosen = settings.read()
    if chosen is None:
        return
    from . import environment, peers, trackers

    environment.prepare(chosen)
    trackers.watch(chosen)
    peers.watch(chosen)

    def begin(torch):
        from . import session

        session.begin(torch, chosen)

    imports.after("torch", begin)
