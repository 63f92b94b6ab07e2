import itertools

import tensorflow as tf
from tensorflow.keras.applications import ResNet50
from tensorflow.keras.layers import Dense, Input
from tensorflow.keras.models import Model, Sequential


class Search:
    def build(self, width, rate):
        inputs = Input(shape=(16,))
        outputs = Dense(1)(Dense(width, activation="relu")(inputs))
        model = Model(inputs=inputs, outputs=outputs)
        model.compile(optimizer=tf.keras.optimizers.Adam(rate), loss="mse")
        return model

    def run(self, x, y):
        results = {}
        for width, rate in itertools.product((8, 16), (1e-2, 1e-3)):
            model = self.build(width, rate)  # want: keras-build-in-loop
            history = model.fit(x, y, epochs=2)
            results[(width, rate)] = min(history.history["loss"])
        return results


def added(x, y):
    for units in range(8, 64, 8):
        net = Sequential()  # want: keras-build-in-loop
        net.add(Dense(units))
        net.add(Dense(1))
        net.compile(loss="mse", optimizer="adam")
        net.fit(x, y)
        del net


def backbones(data, classes):
    for size in classes:
        base = ResNet50(include_top=False)  # want: keras-build-in-loop
        base.compile("adam", "mse")
        base.fit(data)


def nested(x, y):
    for seed in range(3):
        tf.random.set_seed(seed)
        for fold in range(5):
            model = tf.keras.models.Sequential([tf.keras.layers.Dense(4)])  # want: keras-build-in-loop
            model.compile("sgd", "mse")
            model.fit(x[fold], y[fold])
            print(model.evaluate(x[fold], y[fold]))
