import tensorflow as tf


def pipe(paths):
    def load(p):
        return tf.io.decode_jpeg(tf.io.read_file(p))

    ds = tf.data.Dataset.from_tensor_slices(paths).map(load)  # want: tf-data-serial-map
    return ds.batch(8).prefetch(2)
