import transformers
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, Seq2SeqTrainer, Seq2SeqTrainingArguments


def setattr_form(name):
    model = AutoModelForCausalLM.from_pretrained(name)
    model.config.use_cache = True  # want: use-cache-with-checkpointing
    model.gradient_checkpointing_enable()
    model.enable_input_require_grads()
    return model


def updated(model):
    model.config.update({"use_cache": True})  # want: use-cache-with-checkpointing
    model.gradient_checkpointing_enable()
    return model


def peft(name):
    base = AutoModelForCausalLM.from_pretrained(name, use_cache=True, device_map="auto")  # want: use-cache-with-checkpointing
    base.gradient_checkpointing_enable()
    return get_peft_model(base, LoraConfig())


def seq2seq(model, data):
    arguments = Seq2SeqTrainingArguments(output_dir="out", gradient_checkpointing=True)
    model.config.use_cache = True  # want: use-cache-with-checkpointing
    trainer = Seq2SeqTrainer(model=model, args=arguments, train_dataset=data)
    trainer.train()


def dictionary(name):
    options = {"use_cache": True, "torch_dtype": "auto"}  # want: use-cache-with-checkpointing
    model = transformers.AutoModelForCausalLM.from_pretrained(name, **options)
    model.gradient_checkpointing_enable()
    return model


class Wrapper:
    def __init__(self, name):
        self.lm = AutoModelForCausalLM.from_pretrained(name)
        self.lm.config.gradient_checkpointing = True
        self.lm.config.use_cache = True  # want: use-cache-with-checkpointing
