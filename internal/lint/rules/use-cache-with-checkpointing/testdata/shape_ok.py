from transformers import AutoModelForCausalLM

model = AutoModelForCausalLM.from_pretrained("gpt2")
model.gradient_checkpointing_enable()
model.config.use_cache = False
train(model)
model.gradient_checkpointing_disable()
model.config.use_cache = True
model.generate(ids, use_cache=True)
