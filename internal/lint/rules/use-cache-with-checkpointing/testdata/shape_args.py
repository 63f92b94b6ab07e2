from transformers import AutoModelForCausalLM, Trainer, TrainingArguments

net = AutoModelForCausalLM.from_pretrained("gpt2", use_cache=True)  # want: use-cache-with-checkpointing
args = TrainingArguments("out", gradient_checkpointing=True)
Trainer(net, args).train()
