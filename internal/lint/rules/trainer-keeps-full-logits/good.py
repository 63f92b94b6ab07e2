from transformers import Trainer, TrainingArguments


def accuracy(prediction):
    ids, labels = prediction
    keep = labels != -100
    return {"accuracy": float((ids[keep] == labels[keep]).mean())}


def make_trainer(model, train, val):
    args = TrainingArguments("out", eval_strategy="epoch")
    return Trainer(
        model,
        args,
        train_dataset=train,
        eval_dataset=val,
        compute_metrics=accuracy,
        preprocess_logits_for_metrics=lambda logits, labels: logits.argmax(-1),
    )
