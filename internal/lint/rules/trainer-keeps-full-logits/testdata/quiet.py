import numpy as np
import evaluate
from transformers import (
    AutoModelForCausalLM,
    AutoModelForSeq2SeqLM,
    AutoModelForSequenceClassification,
    AutoModelForTokenClassification,
    HfArgumentParser,
    Seq2SeqTrainer,
    Seq2SeqTrainingArguments,
    Trainer,
    TrainingArguments,
)

metric = evaluate.load("accuracy")


def compute_metrics(pred):
    return metric.compute(predictions=np.argmax(pred.predictions, axis=1), references=pred.label_ids)


def classify(name, data):
    model = AutoModelForSequenceClassification.from_pretrained(name, num_labels=2)
    return Trainer(model, TrainingArguments("out"), eval_dataset=data, compute_metrics=compute_metrics)


def unknown(model, args, data):
    return Trainer(model, args, eval_dataset=data, compute_metrics=compute_metrics)


def tags(name, data, label_list):
    def score(p):
        predictions, labels = np.argmax(p[0], axis=2), p[1]
        return {"n": [label_list[i] for i, l in zip(predictions, labels) if l != -100]}

    model = AutoModelForTokenClassification.from_pretrained(name)
    return Trainer(model, TrainingArguments("out"), eval_dataset=data, compute_metrics=score)


def generate(name, data):
    model = AutoModelForSeq2SeqLM.from_pretrained(name)
    args = Seq2SeqTrainingArguments("out", predict_with_generate=True)
    return Seq2SeqTrainer(model, args, eval_dataset=data, compute_metrics=compute_metrics)


def parsed(data):
    (training_args,) = HfArgumentParser(TrainingArguments).parse_args_into_dataclasses()
    model = AutoModelForCausalLM.from_pretrained("gpt2")
    return Trainer(model, training_args, eval_dataset=data, compute_metrics=compute_metrics)


def moved(data):
    model = AutoModelForCausalLM.from_pretrained("gpt2")
    return Trainer(model, TrainingArguments("out", eval_accumulation_steps=4), eval_dataset=data, compute_metrics=compute_metrics)


def none(data):
    model = AutoModelForCausalLM.from_pretrained("gpt2")
    return Trainer(model, TrainingArguments("out"), eval_dataset=data, compute_metrics=None)
