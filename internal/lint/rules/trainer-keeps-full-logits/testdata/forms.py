import numpy as np
from transformers import AutoModelForCausalLM, AutoModelForMaskedLM, DataCollatorForLanguageModeling, Trainer, TrainingArguments
from trl import SFTConfig, SFTTrainer

import metrics


def causal(name, data):
    model = AutoModelForCausalLM.from_pretrained(name)
    return Trainer(model=model, args=TrainingArguments("out"), eval_dataset=data, compute_metrics=metrics.perplexity)  # want: trainer-keeps-full-logits


def masked(name, data, tokenizer):
    collator = DataCollatorForLanguageModeling(tokenizer, mlm_probability=0.15)
    trainer = Trainer(
        AutoModelForMaskedLM.from_pretrained(name),
        TrainingArguments(output_dir="out", per_device_eval_batch_size=4),
        data_collator=collator,
        eval_dataset=data,
        compute_metrics=lambda p: {"n": len(p.predictions)},  # want: trainer-keeps-full-logits
    )
    trainer.train()


def sft(model, data):
    def score(eval_preds):
        logits, labels = eval_preds
        return {"acc": (np.argmax(logits, -1) == labels)[labels != -100].mean()}

    options = {"eval_dataset": data, "compute_metrics": score}  # want: trainer-keeps-full-logits
    return SFTTrainer(model, args=SFTConfig("out"), **options)


class Own(Trainer):
    pass


def token_accuracy(pred):
    labels = pred.label_ids
    return {"acc": float((pred.predictions.argmax(-1) == labels)[labels != -100].mean())}


def own(model, args, data):
    return Own(model, args, eval_dataset=data, compute_metrics=token_accuracy)  # want: trainer-keeps-full-logits
