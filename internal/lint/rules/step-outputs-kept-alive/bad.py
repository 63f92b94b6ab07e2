import torch.nn.functional as F


def train(model, loader, optimizer):
    for tokens, targets in loader:
        logits = model(tokens)  # want: step-outputs-kept-alive
        loss = F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
