from transformers import DataCollatorWithPadding


def prepare(rows, tokenizer):
    return tokenizer(rows["text"], truncation=True, max_length=512)


def collator(tokenizer):
    return DataCollatorWithPadding(tokenizer, pad_to_multiple_of=8)
