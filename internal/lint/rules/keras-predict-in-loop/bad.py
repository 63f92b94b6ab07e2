import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])


def scores(images):
    out = []
    for image in images:
        out.append(model.predict(image[None]))  # want: keras-predict-in-loop
    return out
