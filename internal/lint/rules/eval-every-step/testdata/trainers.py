from lightning.pytorch import Trainer
from transformers import TrainingArguments

a = TrainingArguments("out", eval_strategy="steps", eval_steps=1)  # want: eval-every-step
b = TrainingArguments("out", eval_strategy="epoch", eval_steps=1)
c = TrainingArguments("out", eval_strategy="steps", eval_steps=500)
d = Trainer(max_epochs=3, val_check_interval=1)  # want: eval-every-step
e = Trainer(max_epochs=3, val_check_interval=1.0)
f = Trainer(max_epochs=3, val_check_interval=0.25)
