import math

import numpy as np
import pytorch_lightning as pl
import torch
import torch.nn.functional as F
from accelerate import Accelerator
from tqdm import tqdm
from transformers import Trainer


def float_of(model, loader, criterion, optimizer):
    losses = []
    for x, y in loader:
        x, y = x.cuda(), y.cuda()
        loss = criterion(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(float(loss))  # want: item-every-step
    return np.mean(losses)


def appended(model, loader, optimizer, device):
    history = []
    for batch in loader:
        x, y = batch
        x = x.to(device)
        y = y.to(device)
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        history.append(loss.detach().cpu().numpy())  # want: item-every-step
    return history


def progress(model, loader, criterion, optimizer, device):
    bar = tqdm(loader)
    for x, y in bar:
        loss = criterion(model(x.to(device)), y.to(device))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        bar.set_postfix(loss=loss.item())  # want: item-every-step


def progress_tensor(model, loader, criterion, optimizer, device):
    with tqdm(total=100) as bar:
        for x, y in loader:
            loss = criterion(model(x.to(device)), y.to(device))
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            bar.set_postfix({"loss": loss})  # want: item-every-step
            bar.update(1)


def printed(model, loader, criterion, optimizer, device):
    for i, (x, y) in enumerate(loader):
        loss = criterion(model(x.to(device)), y.to(device))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        print(f"step {i}: {loss:.3f}")  # want: item-every-step
        print("step %d loss %f" % (i, loss))  # want: item-every-step
        print("loss", loss)  # want: item-every-step
        print(i, len(loader), x.shape)


def accuracy_too(model, loader, criterion, optimizer, device, writer):
    hits, seen = 0, 0
    for i, (x, y) in enumerate(loader):
        y = y.to(device)
        logits = model(x.to(device))
        loss = criterion(logits, y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        hits += (logits.argmax(1) == y).sum().item()  # want: item-every-step
        seen += y.size(0)
        writer.add_scalar("loss", loss, i)  # want: item-every-step


def before_backward(model, loader, criterion, optimizer, device):
    for x, y in loader:
        loss = criterion(model(x.to(device)), y.to(device))
        value = loss.item()  # want: item-every-step
        if not math.isfinite(value):
            raise ValueError(value)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def while_loop(model, loader, criterion, optimizer, device, steps):
    it = iter(loader)
    step = 0
    while step < steps:
        x, y = next(it)
        loss = criterion(model(x.to(device)), y.to(device))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        last = loss.item()  # want: item-every-step
        step += 1
    return last


def with_scaler(model, loader, criterion, optimizer, device, log):
    scaler = torch.amp.GradScaler("cuda")
    for x, y in loader:
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cuda"):
            loss = criterion(model(x.to(device)), y.to(device))
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        log({"loss": loss.tolist()})  # want: item-every-step


def with_accelerate(model, optimizer, loader):
    accelerator = Accelerator()
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    total = 0
    for batch in loader:
        outputs = model(**batch)
        accelerator.backward(outputs.loss)
        optimizer.step()
        optimizer.zero_grad()
        total += outputs.loss.item()  # want: item-every-step
    return total


def step(model, x, y, criterion, optimizer):
    optimizer.zero_grad()
    loss = criterion(model(x.cuda()), y.cuda())
    loss.backward()
    optimizer.step()
    return loss.item()  # want: item-every-step


class Lit(pl.LightningModule):
    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = F.mse_loss(self(x), y)
        self.history.append(loss.item())  # want: item-every-step
        self.log("train_loss", loss)
        return loss

    def validation_step(self, batch, batch_idx):
        x, y = batch
        self.scores.append(F.mse_loss(self(x), y).item())


class Mine(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, **kwargs):
        outputs = model(**inputs)
        print(outputs.loss.item())  # want: item-every-step
        return (outputs.loss, outputs) if return_outputs else outputs.loss


class Loop:
    def __init__(self, model, optimizer, criterion):
        self.model, self.optimizer, self.criterion = model.cuda(), optimizer, criterion

    def run(self, loader):
        for x, y in loader:
            self.optimizer.zero_grad()
            self.loss = self.criterion(self.model(x.cuda()), y.cuda())
            self.loss.backward()
            self.optimizer.step()
            self.record(self.loss.item())  # want: item-every-step
