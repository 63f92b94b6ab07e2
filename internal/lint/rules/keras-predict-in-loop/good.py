import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])


def scores(images, folds, build):
    for fold in folds:
        other = tf.keras.Sequential(build(fold))
        other.predict(images[fold])
    return model.predict(images, batch_size=256)
