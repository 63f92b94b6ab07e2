import keras


def build(width):
    m = keras.Sequential([keras.layers.Dense(width), keras.layers.Dense(1)])
    m.compile("adam", "mse")
    return m


def grid(x, y):
    out = {}
    for w in (32, 64, 128):
        m = build(w)  # want: keras-build-in-loop
        out[w] = m.fit(x, y, epochs=3).history["loss"][-1]
    return out


def grid_right(x, y):
    out = {}
    for w in (32, 64, 128):
        keras.backend.clear_session()
        m = build(w)
        out[w] = m.fit(x, y, epochs=3).history["loss"][-1]
    return out
