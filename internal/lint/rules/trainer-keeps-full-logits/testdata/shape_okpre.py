import evaluate
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments

metric = evaluate.load("accuracy")


def shrink(logits, labels):
    return logits.argmax(dim=-1)


def compute(ev):
    preds, labels = ev
    return metric.compute(predictions=preds[:, :-1].reshape(-1), references=labels[:, 1:].reshape(-1))


t = Trainer(
    model=AutoModelForCausalLM.from_pretrained("gpt2"),
    args=TrainingArguments("o"),
    compute_metrics=compute,
    preprocess_logits_for_metrics=shrink,
)
