import os
from os import environ

import jax
import jax.numpy as jnp
from jax import random

KEY = random.PRNGKey(0)
environ.setdefault("XLA_PYTHON_CLIENT_MEM_FRACTION", ".3")  # want: jax-env-after-import


def limit():
    os.environ.update(XLA_PYTHON_CLIENT_ALLOCATOR="platform")  # want: jax-env-after-import


def main():
    weights = jnp.zeros((8, 8))
    limit()
    return weights


main()
