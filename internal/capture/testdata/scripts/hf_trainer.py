"""A BERT classifier trained by the Hugging Face Trainer in bf16."""
import torch
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments


class Pairs(torch.utils.data.Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, i):
        ids = torch.full((128,), i + 1)
        return {"input_ids": ids, "attention_mask": torch.ones_like(ids), "labels": torch.tensor(i % 2)}


def main():
    config = BertConfig(hidden_size=256, num_hidden_layers=4, num_attention_heads=4, intermediate_size=1024)
    args = TrainingArguments(output_dir="out", per_device_train_batch_size=8, num_train_epochs=1, bf16=True,
                             logging_steps=1, save_steps=2, report_to=[])
    Trainer(model=BertForSequenceClassification(config), args=args, train_dataset=Pairs()).train()


if __name__ == "__main__":
    main()
