import jax


@jax.jit
def update(state, batch):
    return state, batch.mean()


def train(state, batches):
    for batch in batches:
        state, loss = update(state, batch)
        loss.block_until_ready()  # want: jax-wait-every-step
        print(loss)  # want: jax-wait-every-step
    return state
