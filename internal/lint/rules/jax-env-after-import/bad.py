import os

import jax

print(jax.devices())
os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"  # want: jax-env-after-import
