import os

import jax

devices = jax.devices()
os.environ.update(XLA_PYTHON_CLIENT_MEM_FRACTION=".5")  # want: jax-env-after-import
