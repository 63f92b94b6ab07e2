import argparse
from transformers import AutoModelForCausalLM, TrainingArguments, Trainer


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--model", default="gpt2")
    a = ap.parse_args()
    model = AutoModelForCausalLM.from_pretrained(a.model)
    model.config.use_cache = True  # want: use-cache-with-checkpointing
    kw = {"output_dir": "o", "gradient_checkpointing": True}
    targs = TrainingArguments(**kw)
    Trainer(model=model, args=targs).train()
