import os
import torch
from transformers import AutoModelForCausalLM

model = AutoModelForCausalLM.from_pretrained("gpt2", device_map="cuda")
os.environ["PYTORCH_ALLOC_CONF"] = "expandable_segments:True"  # want: alloc-conf-after-cuda
model.train()
