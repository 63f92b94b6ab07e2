import jax
import lightning.pytorch as pl
import tensorflow as tf
import torch

tf.config.run_functions_eagerly(True)  # want: debug-left-on
jax.config.update("jax_debug_nans", True)  # want: debug-left-on
jax.config.update("jax_enable_x64", True)
trainer = pl.Trainer(detect_anomaly=True)  # want: debug-left-on


def build(model):
    model.compile("adam", "mse", run_eagerly=True)  # want: debug-left-on
    model.compile("adam", "mse")


def train(model, loader, optimizer):
    for x in loader:
        with torch.autograd.detect_anomaly():  # want: debug-left-on
            model(x).loss.backward()
        optimizer.step()
