from transformers import Trainer, TrainingArguments


def accuracy(prediction):
    logits, labels = prediction
    keep = labels != -100
    return {"accuracy": float((logits.argmax(-1)[keep] == labels[keep]).mean())}


def make_trainer(model, train, val):
    args = TrainingArguments("out", eval_strategy="epoch")
    return Trainer(
        model,
        args,
        train_dataset=train,
        eval_dataset=val,
        compute_metrics=accuracy,  # want: trainer-keeps-full-logits
    )
