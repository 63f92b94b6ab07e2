import jax


@jax.jit
def update(params, batch):
    return params


def fit(params, batches):
    for b in batches:
        params = update(params, b)
        jax.block_until_ready(params)  # want: jax-wait-every-step
    return params
