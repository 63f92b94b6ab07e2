import tensorflow as tf


def load(files, decode):
    data = tf.data.Dataset.from_tensor_slices(files)
    data = data.map(decode)  # want: tf-data-serial-map
    return data.batch(32).prefetch(tf.data.AUTOTUNE)
