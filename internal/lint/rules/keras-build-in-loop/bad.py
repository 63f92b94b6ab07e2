import tensorflow as tf


def sweep(data, widths):
    scores = []
    for width in widths:
        model = tf.keras.Sequential([tf.keras.layers.Dense(width), tf.keras.layers.Dense(1)])  # want: keras-build-in-loop
        model.compile("adam", "mse")
        scores.append(model.fit(data, verbose=0).history["loss"][-1])
    return scores
