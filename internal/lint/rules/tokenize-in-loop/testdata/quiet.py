import torch
from torch.utils.data import Dataset


class Texts(Dataset):
    def __init__(self, texts, tokenizer):
        self.texts, self.tokenizer = texts, tokenizer

    def __len__(self):
        return len(self.texts)

    def __getitem__(self, i):
        return self.tokenizer(self.texts[i], truncation=True)


def before(model, texts, tokenizer, optimizer, device):
    encoded = [tokenizer(t, return_tensors="pt") for t in texts]
    prompt = tokenizer("Once", return_tensors="pt").to(device)
    for step, batch in enumerate(encoded):
        model(**batch.to(device)).loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if step % 500 == 0:
            enc = tokenizer("Once upon", return_tensors="pt")
            print(tokenizer.decode(model.generate(**enc.to(device))[0]), prompt)


def reward(model, judge, loader, tokenizer, optimizer, device):
    for batch in loader:
        ids = model.generate(batch["input_ids"].to(device))
        texts = tokenizer.batch_decode(ids)
        scores = judge(**tokenizer(texts, return_tensors="pt").to(device)).logits
        loss = -(scores.detach() * model(ids).logits.mean())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


def judge_given(model, judge, prompts, completions, tokenizer, optimizer):
    texts = [p + c for p, c in zip(prompts, completions)]
    scores = judge(**tokenizer(texts, return_tensors="pt")).logits
    (scores.detach() * model(prompts)).mean().backward()
    optimizer.step()


@torch.no_grad()
def predict(model, loader, tokenizer, device):
    for rows in loader:
        yield model(**tokenizer(rows["text"], return_tensors="pt").to(device)).logits
