import numpy as np
import transformers
from transformers import AutoModelForMaskedLM, DataCollatorForSeq2Seq, EvalPrediction, Trainer, TrainingArguments


class Job:
    def __init__(self, model, tokenizer):
        self.model, self.tokenizer = model, tokenizer

    def metrics(self, prediction: EvalPrediction):
        predictions = np.argmax(prediction.predictions, axis=-1)
        mask = prediction.label_ids != -100
        return {"accuracy": (predictions == prediction.label_ids)[mask].mean()}

    def trainer(self, train, val):
        args = TrainingArguments(output_dir="o", per_device_eval_batch_size=4)
        return Trainer(
            model=self.model,
            args=args,
            train_dataset=train,
            eval_dataset=val,
            compute_metrics=self.metrics,  # want: trainer-keeps-full-logits
        )


def inner(name, data):
    model = transformers.GPT2LMHeadModel.from_pretrained(name)

    def perplexity(pred):
        logits, labels = pred
        return {"n": logits.shape[0]}

    trainer = transformers.Trainer(model=model, args=transformers.TrainingArguments("out"), eval_dataset=data,
                                   compute_metrics=perplexity)  # want: trainer-keeps-full-logits
    return trainer.evaluate()


def masked(data, score):
    net = AutoModelForMaskedLM.from_pretrained("bert-base-uncased")
    config = dict(eval_strategy="steps", eval_steps=100)
    args = TrainingArguments("out", **config)
    return Trainer(net, args, eval_dataset=data, compute_metrics=score)  # want: trainer-keeps-full-logits
