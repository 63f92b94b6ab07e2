from transformers import AutoModelForCausalLM, Trainer, TrainingArguments


def tune(name, train):
    model = AutoModelForCausalLM.from_pretrained(name, dtype="bfloat16", use_cache=False)
    trainer = Trainer(model, TrainingArguments("out", gradient_checkpointing=True), train_dataset=train)
    trainer.train()
    model.config.use_cache = True  # for generation, after training
    return model
