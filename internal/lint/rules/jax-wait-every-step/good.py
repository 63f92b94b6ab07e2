import jax


@jax.jit
def update(state, batch):
    return state, batch.mean()


def train(state, batches):
    for step, batch in enumerate(batches):
        state, loss = update(state, batch)
        if step % 100 == 0:
            print(float(loss))
    return jax.block_until_ready(state)
