import torch
from accelerate import Accelerator


def accuracy(net, dataloader, device):
    net.eval()
    hits = 0
    for batch in dataloader:
        x, y = batch["image"].to(device), batch["label"].to(device)
        hits += (net(x).argmax(-1) == y).sum().item()  # want: eval-without-no-grad
    net.train()
    return hits / len(dataloader.dataset)


def validate(model, loader):
    accelerator = Accelerator()
    model, loader = accelerator.prepare(model, loader)
    model.eval()
    losses = []
    for batch in loader:
        out = model(**batch)  # want: eval-without-no-grad
        losses.append(accelerator.gather(out.loss.detach()))
    return torch.cat(losses).mean()


class Evaluator:
    def __init__(self, model, loader):
        self.model = model
        self.loader = loader

    def forward_batch(self, batch):
        return self.model(batch)  # want: eval-without-no-grad

    def run(self):
        self.model.eval()
        scores = []
        for batch in self.loader:
            scores.append(self.forward_batch(batch).max().item())
        return scores


def amp(model, loader, criterion):
    model.eval()
    total = 0.0
    for x, y in loader:
        with torch.autocast("cuda", dtype=torch.bfloat16):
            out = model(x.cuda())  # want: eval-without-no-grad
            total += criterion(out, y.cuda()).item()
    return total


def collect(model, loader):
    model.eval()
    return [model(x).argmax(-1).tolist() for x in loader]  # want: eval-without-no-grad


def some(model, loader, device):
    model.eval()
    it = iter(loader)
    while True:
        try:
            x = next(it)
        except StopIteration:
            break
        print(model(x.to(device)).mean().item())  # want: eval-without-no-grad
