import os

import torch
import pytorch_lightning as pl
from accelerate import Accelerator
from pytorch_lightning.callbacks import ModelCheckpoint
from safetensors.torch import save_file
from transformers import TrainingArguments


def keyword(net, loader, loss_fn, opt, epochs, out):
    for epoch in range(epochs):
        for x, y in loader:
            opt.zero_grad()
            loss = loss_fn(net(x.cuda()), y.cuda())
            loss.backward()
            opt.step()
            torch.save(obj={"net": net.state_dict(), "opt": opt.state_dict()}, f=os.path.join(out, "last.pt"))  # want: save-every-step
        torch.save(net.state_dict(), os.path.join(out, "epoch.pt"))


def save_checkpoint(model, optimizer, step, path):
    state = dict(model=model.state_dict(), optimizer=optimizer.state_dict(), step=step)
    torch.save(state, path)  # want: save-every-step


def in_helper(model, loader, criterion, optimizer, device, path):
    step = 0
    for x, y in loader:
        loss = criterion(model(x.to(device)), y.to(device))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        save_checkpoint(model, optimizer, step, path)
        step += 1


def pretrained(model, loader, optimizer, out):
    for batch in loader:
        loss = model(**batch).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        model.save_pretrained(out)  # want: save-every-step


def with_file(model, loader, criterion, optimizer, device, path):
    for x, y in loader:
        loss = criterion(model(x.to(device)), y.to(device))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        with open(path, "wb") as handle:
            torch.save(model.state_dict(), handle)  # want: save-every-step


def main_only(model, loader, criterion, optimizer, device, rank):
    for x, y in loader:
        loss = criterion(model(x.to(device)), y.to(device))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if rank == 0:
            save_file(model.state_dict(), "model.safetensors")  # want: save-every-step


def accelerated(model, optimizer, loader):
    accelerator = Accelerator()
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for batch in loader:
        loss = model(**batch).loss
        accelerator.backward(loss)
        optimizer.step()
        optimizer.zero_grad()
        accelerator.save_state("out")  # want: save-every-step


class Lit(pl.LightningModule):
    def training_step(self, batch, batch_idx):
        loss = self.model(batch).mean()
        torch.save(self.state_dict(), "last.ckpt")  # want: save-every-step
        return loss


every = ModelCheckpoint(dirpath="out", every_n_train_steps=1)  # want: save-every-step
args = TrainingArguments("out", save_strategy="steps", save_steps=1)  # want: save-every-step
fine = TrainingArguments("out", save_strategy="steps", save_steps=500)
epochs = TrainingArguments("out", save_strategy="epoch", save_steps=1)


def best_only(model, loader, criterion, optimizer, device):
    best = 1e9
    for x, y in loader:
        loss = criterion(model(x.to(device)), y.to(device))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if loss.item() < best:
            best = loss.item()
            torch.save(model.state_dict(), "best.pt")


def on_interrupt(model, loader, criterion, optimizer, device):
    for x, y in loader:
        try:
            loss = criterion(model(x.to(device)), y.to(device))
            loss.backward()
        except KeyboardInterrupt:
            torch.save(model.state_dict(), "interrupted.pt")
            raise
        optimizer.step()
        optimizer.zero_grad()


def epoch_loop(model, loader, criterion, optimizer, device, train_one_epoch):
    for epoch in range(10):
        for x, y in loader:
            criterion(model(x.to(device)), y.to(device)).backward()
            optimizer.step()
            optimizer.zero_grad()
        torch.save(model.state_dict(), f"{epoch}.pt")


def every_save(model, loader, criterion, optimizer, device, save_every=500):
    for step, (x, y) in enumerate(loader, start=1):
        criterion(model(x.to(device)), y.to(device)).backward()
        optimizer.step()
        optimizer.zero_grad()
        if step % save_every:
            continue
        torch.save(model.state_dict(), "last.pt")
