import lightning as L
import pytorch_lightning as pl
import torch
from accelerate import Accelerator


def grown(model, loader, device):
    everything = torch.empty(0, 10, device=device)
    model.to(device).eval()
    with torch.inference_mode():
        for x, _ in loader:
            probs = model(x.to(device)).softmax(-1)
            everything = torch.cat((everything, probs), dim=0)  # want: outputs-list-on-gpu
    return everything


def comprehension(model, loader, device):
    with torch.no_grad():
        parts = [model(x.to(device)) for x in loader]  # want: outputs-list-on-gpu
    return torch.cat(parts)


def pairs(model, loader):
    model.cuda().eval()
    found = []
    with torch.no_grad():
        for i, (ids, x) in enumerate(loader):
            features = model(x.cuda())
            found.append((ids, features))  # want: outputs-list-on-gpu
    return found


def named(model, loader, device):
    kept = {"logits": [], "names": []}
    with torch.no_grad():
        for x, names in loader:
            kept["logits"].append(model(x.to(device)).detach())  # want: outputs-list-on-gpu
            kept["names"].append(names)
    return kept


def by_index(model, loader, device):
    found = {}
    with torch.no_grad():
        for i, x in enumerate(loader):
            found[i] = model(x.to(device))  # want: outputs-list-on-gpu
    return found


def plus(model, loader, device):
    outs = []
    with torch.no_grad():
        for x in loader:
            outs += [model(x.to(device))]  # want: outputs-list-on-gpu
    return outs


def detached(model, val_loader, device):
    chunks = []
    for x in val_loader:
        chunks.append(model(x.to(device)).detach())  # want: outputs-list-on-gpu
    return chunks


def accelerated(model, loader):
    accelerator = Accelerator()
    model, loader = accelerator.prepare(model, loader)
    predictions = []
    model.eval()
    for batch in loader:
        with torch.no_grad():
            logits = model(**batch).logits
        predictions.append(accelerator.gather_for_metrics(logits))  # want: outputs-list-on-gpu
    return torch.cat(predictions)


class Old(pl.LightningModule):
    def validation_step(self, batch, index):
        x, y = batch
        logits = self.net(x)
        return {"logits": logits, "y": y}  # want: outputs-list-on-gpu

    def validation_epoch_end(self, outputs):
        print(torch.cat([o["logits"] for o in outputs]).mean())


class Tester:
    def __init__(self, model, loader):
        self.model, self.loader, self.outputs = model.cuda(), loader, []

    def run(self):
        with torch.no_grad():
            for x in self.loader:
                self.outputs.append(self.model(x.cuda()))  # want: outputs-list-on-gpu
        return torch.cat(self.outputs)


@torch.no_grad()
def predict_strides(encoder, texts, size, device):
    found = []
    for i in range(0, len(texts), size):
        found.append(encoder(texts[i : i + size].to(device)))  # want: outputs-list-on-gpu
    return torch.cat(found)
