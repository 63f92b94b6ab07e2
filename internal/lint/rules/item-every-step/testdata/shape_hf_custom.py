import torch
from transformers import Trainer


class MyTrainer(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, **kw):
        out = model(**inputs)
        print("loss", out.loss.item())  # want: item-every-step
        return (out.loss, out) if return_outputs else out.loss
