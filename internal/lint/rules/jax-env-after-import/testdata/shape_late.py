import os
import jax
import jax.numpy as jnp

x = jnp.zeros(3)
os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"  # want: jax-env-after-import
