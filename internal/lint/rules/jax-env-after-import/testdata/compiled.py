import os
from functools import partial

import jax


@partial(jax.jit, static_argnums=0)
def power(n, x):
    return x ** n


double = jax.jit(lambda x: 2 * x)


def first():
    y = power(2, 1.0)
    os.environ["XLA_PYTHON_CLIENT_MEM_FRACTION"] = "0.4"  # want: jax-env-after-import
    return y


def second():
    y = double(1.0)
    os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"  # want: jax-env-after-import
    return y


def neither():
    halve = jax.jit(lambda x: x / 2)
    os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
    return halve
