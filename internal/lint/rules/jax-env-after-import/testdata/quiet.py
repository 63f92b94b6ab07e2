import os

import jax
import jax.numpy as jnp

os.environ["XLA_PYTHON_CLIENT_MEM_FRACTION"] = "0.45"  # after the import, before the first use: it works


@jax.jit
def step(weights, batch):
    return weights - 1e-3 * jnp.mean(batch, axis=0)


def setup():
    os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"


def main():
    setup()
    jax.config.update("jax_enable_x64", True)
    weights = jnp.zeros(3)
    os.environ["WANDB_MODE"] = "offline"
    return step(weights, weights)


if __name__ == "__main__":
    main()
