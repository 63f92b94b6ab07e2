import torch
import torch.nn.functional as F
from contextlib import nullcontext
from torch import autocast


class Stepper:
    def __init__(self, model, optimizer):
        self.model, self.optimizer = model, optimizer
        self.scaler = torch.amp.GradScaler()
        self.amp = torch.autocast(device_type="cuda", dtype=torch.float16)

    def compute(self, x, y):
        out = self.model(x)  # want: autocast-misses-forward
        with self.amp:
            return F.cross_entropy(out, y)

    def step(self, x, y):
        loss = self.compute(x, y)
        self.scaler.scale(loss).backward()
        self.scaler.step(self.optimizer)
        self.scaler.update()


def tuple_target(model, loader, optimizer, scaler):
    for images, labels in loader:
        features, logits = model(images.cuda())  # want: autocast-misses-forward
        with autocast("cuda"):
            loss = F.cross_entropy(logits, labels.cuda()) + features.pow(2).mean()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()


def chained(encoder, head, loader, criterion, optimizer):
    for x, y in loader:
        hidden = encoder(x)
        out = head(hidden)  # want: autocast-misses-forward
        with torch.cuda.amp.autocast():
            loss = criterion(out, y)
        loss.backward()
        optimizer.step()


def by_key(model, loader, criterion, optimizer, scaler):
    for batch in loader:
        outputs = model(**batch)  # want: autocast-misses-forward
        logits = outputs["logits"]
        with torch.autocast("cuda"):
            loss = criterion(logits, batch["labels"])
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
