import transformers
from peft import prepare_model_for_kbit_training


def built(name):
    cfg = transformers.GPT2Config(n_layer=4, use_cache=True)  # want: use-cache-with-checkpointing
    net = transformers.GPT2LMHeadModel(cfg)
    net.gradient_checkpointing_enable()
    return net


def other(name):
    cfg = transformers.GPT2Config(n_layer=4, use_cache=True)
    teacher = transformers.GPT2LMHeadModel(cfg)
    net = transformers.GPT2LMHeadModel.from_pretrained(name)
    net.gradient_checkpointing_enable()
    return net, teacher


def attribute(name):
    m = transformers.AutoModelForCausalLM.from_pretrained(name, load_in_4bit=True)
    setattr(m.config, "use_cache", True)  # want: use-cache-with-checkpointing
    return prepare_model_for_kbit_training(m, use_gradient_checkpointing=True)
