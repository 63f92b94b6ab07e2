from transformers import AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("gpt2")


def prepare(rows):
    return tokenizer(rows["text"], padding="max_length", truncation=True, max_length=512)  # want: padding-to-max-length
