from transformers import TrainingArguments

a = TrainingArguments("out", dataloader_pin_memory=False)  # want: pin-memory-missing
b = TrainingArguments("out", dataloader_pin_memory=False, use_cpu=True)
c = TrainingArguments("out")
