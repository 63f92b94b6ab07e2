import jax.numpy as jnp


def evaluate(model, test_loader):
    found = []
    model.eval()
    for batch in test_loader:
        found.append(model(jnp.array(batch["x"])))
    return found
