import gc
from functools import partial

import pytorch_lightning as pl
import torch
from torch import cuda
from torch.cuda import empty_cache
from transformers import TrainerCallback, TrainingArguments


def by_name(model, loader, criterion, optimizer, device):
    for epoch in range(10):
        model.train()
        for batch in loader:
            x, y = batch[0].cuda(), batch[1].cuda()
            loss = criterion(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            del loss
            empty_cache()  # want: empty-cache-every-step
        empty_cache()


def by_alias(model, loader, criterion, optimizer):
    data = iter(loader)
    for step in range(1000):
        cuda.empty_cache()  # want: empty-cache-every-step
        x, y = next(data)
        loss = criterion(model(x.cuda()), y.cuda())
        loss.backward()
        optimizer.step()


def free():
    gc.collect()
    torch.cuda.empty_cache()  # want: empty-cache-every-step


def helper(model, loader, criterion, optimizer):
    for x, y in loader:
        loss = criterion(model(x.cuda()), y.cuda())
        loss.backward()
        optimizer.step()
        free()


def if_available(model, loader, criterion, optimizer, device):
    for x, y in loader:
        optimizer.zero_grad()
        criterion(model(x.to(device)), y.to(device)).backward()
        optimizer.step()
        if torch.cuda.is_available():
            torch.cuda.empty_cache()  # want: empty-cache-every-step


@torch.no_grad()
def validate(model, val_loader, device):
    model.eval()
    hits = 0
    for x, y in val_loader:
        hits += (model(x.to(device)).argmax(1) == y.to(device)).sum()
        torch.cuda.empty_cache()  # want: empty-cache-every-step
    torch.cuda.empty_cache()
    return hits


class Lit(pl.LightningModule):
    def training_step(self, batch, batch_idx):
        loss = self.model(batch).mean()
        torch.cuda.empty_cache()  # want: empty-cache-every-step
        return loss

    def on_train_epoch_end(self):
        torch.cuda.empty_cache()

    def on_train_batch_end(self, outputs, batch, batch_idx):
        torch.cuda.empty_cache()  # want: empty-cache-every-step


class Clean(pl.Callback):
    def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx):
        torch.cuda.empty_cache()  # want: empty-cache-every-step


class CleanHF(TrainerCallback):
    def on_step_end(self, args, state, control, **kwargs):
        torch.cuda.empty_cache()  # want: empty-cache-every-step

    def on_epoch_end(self, args, state, control, **kwargs):
        torch.cuda.empty_cache()


args = TrainingArguments("out", torch_empty_cache_steps=1)  # want: empty-cache-every-step
rare = TrainingArguments("out", torch_empty_cache_steps=500)


def accumulate(model, loader, criterion, optimizer, accelerator, k=8):
    for i, (x, y) in enumerate(loader):
        with accelerator.accumulate(model):
            loss = criterion(model(x), y)
            accelerator.backward(loss)
            optimizer.step()
            optimizer.zero_grad()
        if (i + 1) % k == 0:
            torch.cuda.empty_cache()
