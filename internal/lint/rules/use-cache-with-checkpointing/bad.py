from transformers import AutoModelForCausalLM


def load(name):
    model = AutoModelForCausalLM.from_pretrained(name, dtype="bfloat16")
    model.gradient_checkpointing_enable()
    model.config.use_cache = True  # want: use-cache-with-checkpointing
    return model
