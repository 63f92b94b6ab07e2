import tensorflow as tf


def sweep(data, widths):
    scores = []
    for width in widths:
        tf.keras.backend.clear_session()
        model = tf.keras.Sequential([tf.keras.layers.Dense(width), tf.keras.layers.Dense(1)])
        model.compile("adam", "mse")
        scores.append(model.fit(data, verbose=0).history["loss"][-1])
    return scores
