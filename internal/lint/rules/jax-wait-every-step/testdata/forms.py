import functools
import time

import jax

step = jax.jit(lambda s, b: (s, b.sum()))


@functools.partial(jax.jit, donate_argnums=0)
def donate(s, b):
    return s, {"loss": b.sum()}


def a(state, batches):
    losses = []
    for b in batches:
        state, loss = step(state, b)
        losses.append(float(loss))  # want: jax-wait-every-step
    return losses


def b(state, batches):
    for b in batches:
        state, metrics = donate(state, b)
        jax.block_until_ready(metrics)  # want: jax-wait-every-step
        metrics["loss"].item()  # want: jax-wait-every-step


def clocked(state, batches):
    for b in batches:
        start = time.perf_counter()
        state, loss = step(state, b)
        loss.block_until_ready()
        yield time.perf_counter() - start


def plain(state, batches, other):
    for b in batches:
        loss = other(state, b)
        print(loss)
