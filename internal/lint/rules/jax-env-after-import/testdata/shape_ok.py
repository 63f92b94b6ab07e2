import os

os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"

import jax

print(jax.devices())
