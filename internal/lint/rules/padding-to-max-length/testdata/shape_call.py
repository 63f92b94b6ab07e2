from transformers import AutoTokenizer

tk = AutoTokenizer.from_pretrained("bert-base-uncased")


def enc(rows):
    return tk(rows["text"], truncation=True, padding="max_length", max_length=512)  # want: padding-to-max-length


def enc_right(rows):
    return tk(rows["text"], truncation=True, max_length=512)
