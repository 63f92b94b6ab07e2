import torch
import torch.nn.functional as F


def train(lm, dl, opt):
    lm.cuda()
    for ids in dl:
        ids = ids.cuda()
        logits = lm(ids[:, :-1])  # want: step-outputs-kept-alive
        loss = F.cross_entropy(logits.reshape(-1, logits.size(-1)), ids[:, 1:].reshape(-1))
        opt.zero_grad()
        loss.backward()
        opt.step()
