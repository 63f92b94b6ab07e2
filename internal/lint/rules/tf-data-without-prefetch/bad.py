import tensorflow as tf


def load(files, decode):
    data = tf.data.TFRecordDataset(files)
    data = data.map(decode, num_parallel_calls=tf.data.AUTOTUNE)
    return data.shuffle(10_000).batch(32)  # want: tf-data-without-prefetch
