import torch
import torch.nn.functional as F
from torch.cuda.amp import autocast


def step(net, batch, optimizer, scaler):
    images, labels = batch
    logits, aux = net(images.cuda())  # want: autocast-misses-forward
    with autocast():
        loss = F.cross_entropy(logits, labels.cuda()) + 0.4 * F.cross_entropy(aux, labels.cuda())
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()


def accelerated(model, loader, optimizer, criterion, accelerator):
    for batch in loader:
        out = model(batch["x"])  # prepare() made it cast by itself
        with accelerator.autocast():
            loss = criterion(out.logits, batch["y"])
        accelerator.backward(loss)
        optimizer.step()
        optimizer.zero_grad()


def context(model, loader, criterion, optimizer):
    ctx = torch.amp.autocast(device_type="cuda", dtype=torch.bfloat16)
    for x, y in loader:
        out = model.forward(x)  # want: autocast-misses-forward
        with ctx:
            loss = criterion(out, y)
        loss.backward()
        optimizer.step()


def predict(model, x):
    return model(x)


def helper(model, loader, criterion, optimizer):
    for x, y in loader:
        out = predict(model, x)  # want: autocast-misses-forward
        with torch.autocast("cuda"):
            loss = criterion(out, y)
        loss.backward()
        optimizer.step()


class Engine:
    def fit(self, loader):
        for x, y in loader:
            prediction = self.model(x)  # want: autocast-misses-forward
            with torch.cuda.amp.autocast(enabled=True):
                loss = self.criterion(prediction, y)
            self.scaler.scale(loss).backward()
            self.scaler.step(self.optimizer)
            self.scaler.update()
