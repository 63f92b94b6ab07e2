import lightning as L
import torch
import torch.nn.functional as F
from accelerate import Accelerator
from tqdm.auto import tqdm


def smoothed(model, loader, criterion, optimizer):
    average = 0.0
    for x, y in tqdm(loader):
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        average = 0.9 * average + 0.1 * loss  # want: loss-keeps-graph
    return average


def weighted(model, loader, optimizer, device):
    total, seen = torch.tensor(0.0, device=device), 0
    for batch in loader:
        x, y = (t.to(device) for t in batch)
        optimizer.zero_grad()
        out = model(x)
        loss = F.cross_entropy(out, y)
        loss.backward()
        optimizer.step()
        total += loss * y.size(0)  # want: loss-keeps-graph
        seen += y.size(0)
    return total / seen


def by_dict(model, loader, criterion, optimizer):
    stats = {"loss": 0.0}
    for x, y in loader:
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        stats["loss"] += loss  # want: loss-keeps-graph
    return stats


class Engine:
    def __init__(self, model, optimizer, criterion):
        self.model, self.optimizer, self.criterion = model, optimizer, criterion
        self.running = 0.0

    def step(self, x, y):
        self.optimizer.zero_grad()
        loss = self.criterion(self.model(x), y)
        loss.backward()
        self.optimizer.step()
        return loss

    def epoch(self, loader):
        for x, y in loader:
            self.running += self.step(x, y)  # want: loss-keeps-graph
        return float(self.running)


def accelerated(model, loader, optimizer):
    accelerator = Accelerator()
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    total_loss = 0
    for step, batch in enumerate(loader):
        with accelerator.accumulate(model):
            outputs = model(**batch)
            loss = outputs.loss
            total_loss += loss  # want: loss-keeps-graph
            accelerator.backward(loss)
            optimizer.step()
            optimizer.zero_grad()
    return total_loss


class Lit(L.LightningModule):
    def on_train_epoch_start(self):
        self.total = 0.0

    def training_step(self, batch, index):
        x, y = batch
        loss = F.mse_loss(self.net(x), y)
        self.total += loss  # want: loss-keeps-graph
        return loss


def forever(model, loader, criterion, optimizer):
    it = iter(loader)
    running = 0.0
    step = 0
    while step < 1000:
        x, y = next(it)
        loss = criterion(model(x), y)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        running = loss + running  # want: loss-keeps-graph
        step += 1
    return running
