import numpy as np
from transformers import AutoModelForMaskedLM, Trainer, TrainingArguments


def score(ev):
    logits, labels = ev
    return {"acc": float((np.argmax(logits, axis=-1) == labels).mean())}


net = AutoModelForMaskedLM.from_pretrained("bert-base-uncased")
options = dict(model=net, args=TrainingArguments("o", eval_strategy="epoch"), eval_dataset=None)
t = Trainer(**options, compute_metrics=score)  # want: trainer-keeps-full-logits
