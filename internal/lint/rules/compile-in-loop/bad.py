import jax


def train(update, state, batches):
    for step, batch in enumerate(batches):
        pass
    for step in range(1000):
        state = jax.jit(update)(state, batches[step])  # want: compile-in-loop
    return state
