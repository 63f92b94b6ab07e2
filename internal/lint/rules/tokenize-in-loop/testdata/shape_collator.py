import tiktoken
import torch

enc = tiktoken.get_encoding("gpt2")


def fit(model, texts, optimizer):
    model.cuda()
    for text in texts:
        ids = torch.tensor(enc.encode(text))[None].cuda()  # want: tokenize-in-loop
        loss = model(ids, labels=ids).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
