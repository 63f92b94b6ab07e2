from transformers import AutoConfig, AutoModelForCausalLM, LlamaForCausalLM, Trainer, TrainingArguments
from trl import SFTConfig, SFTTrainer


def argument(name, data):
    model = AutoModelForCausalLM.from_pretrained(name, use_cache=True)  # want: use-cache-with-checkpointing
    args = TrainingArguments("out", gradient_checkpointing=True, bf16=True)
    Trainer(model=model, args=args, train_dataset=data).train()


def sft(name, data):
    model = LlamaForCausalLM.from_pretrained(name)
    model.config.use_cache = True  # want: use-cache-with-checkpointing
    SFTTrainer(model, args=SFTConfig("out", gradient_checkpointing=True), train_dataset=data).train()


def by_config(name):
    config = AutoConfig.from_pretrained(name, use_cache=True)  # want: use-cache-with-checkpointing
    model = AutoModelForCausalLM.from_pretrained(name, config=config)
    model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    return model


class Tuner:
    def __init__(self, name):
        self.model = AutoModelForCausalLM.from_pretrained(name)
        self.model.gradient_checkpointing_enable()

    def prepare(self):
        self.model.config.use_cache = True  # want: use-cache-with-checkpointing
        self.model.train()


def loop(model, loader, optimizer):
    model.gradient_checkpointing_enable()
    for batch in loader:
        loss = model(**batch, use_cache=True).loss  # want: use-cache-with-checkpointing
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
