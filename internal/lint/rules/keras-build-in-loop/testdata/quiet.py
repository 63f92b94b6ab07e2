import gc
import multiprocessing

import tensorflow as tf
from keras import backend as K
from keras.layers import Dense
from keras.models import Sequential


def build(width):
    K.clear_session()
    return Sequential([Dense(width)])


def reset():
    tf.keras.backend.clear_session()
    gc.collect()


def helper_clears(x, y):
    for width in range(4):
        model = build(width)
        model.fit(x, y)


def helper_resets(x, y):
    for width in range(4):
        model = Sequential([Dense(width)])
        model.fit(x, y)
        del model
        reset()


def ensemble(x, y):
    members = []
    for width in range(4):
        member = Sequential([Dense(width)])
        member.compile("adam", "mse")
        member.fit(x, y)
        members.append(member)
    return members


def one_model(x, y):
    model = Sequential([Dense(3)])
    for _ in range(10):
        model.fit(x, y)


def blocks(x, depth):
    for _ in range(depth):
        x = tf.keras.Sequential([tf.keras.layers.Dense(8), tf.keras.layers.ReLU()])(x)
    return x


def one(width, x, y):
    model = Sequential([Dense(width)])
    model.fit(x, y)


def processes(x, y):
    for width in range(4):
        worker = multiprocessing.Process(target=one, args=(width, x, y))
        worker.start()
        worker.join()
