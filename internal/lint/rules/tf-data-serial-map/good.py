import tensorflow as tf


def load(files, decode, augment):
    data = tf.data.Dataset.from_tensor_slices(files)
    data = data.map(decode, num_parallel_calls=tf.data.AUTOTUNE)
    return data.batch(32).map(augment).prefetch(tf.data.AUTOTUNE)
