import numpy as np
import keras

net = keras.models.load_model("m.keras")


def scores(rows):
    return [net.predict(np.expand_dims(r, 0)) for r in rows]  # want: keras-predict-in-loop


def scores_right(rows):
    return net.predict(np.stack(rows), batch_size=256)
