import keras
from keras.layers import Dense
from keras.models import Model, Sequential
from tensorflow.keras import layers
from tensorflow import keras as tfk


def build(width):
    model = Sequential()
    model.add(Dense(width))
    model.compile(loss="mse")
    return model


def functional(width):
    inputs = keras.Input((8,))
    return Model(inputs, Dense(width)(inputs))


class Net(tfk.Model):
    def __init__(self, width):
        super().__init__()
        self.inner = layers.Dense(width)

    def call(self, x):
        return self.inner(x)


def folds(kfold, x, y):
    for train, test in kfold.split(x, y):
        model = build(8)  # want: keras-build-in-loop
        model.fit(x[train], y[train])
        print(model.evaluate(x[test], y[test]))


def rounds(x, y):
    i = 0
    while i < 10:
        net = Net(i)  # want: keras-build-in-loop
        net.compile("adam", "mse")
        net.fit(x, y)
        i += 1


def score(model, x, y):
    return model.fit(x, y).history["loss"][-1]


def with_helper(x, y, grid):
    best = None
    for lr in grid:
        for width in (8, 16):
            net = functional(width)  # want: keras-build-in-loop
            net.compile(keras.optimizers.Adam(lr), "mse")
            best = min(score(net, x, y), best or 9)
    return best


def comprehension(x, y, widths):
    return [build(w).fit(x, y) for w in widths]  # want: keras-build-in-loop
