import logging
import torch
import wandb
from tqdm import tqdm
from torch.utils.tensorboard import SummaryWriter
from tqdm.auto import tqdm as bar
import numpy as np

log = logging.getLogger(__name__)

def a(net, dl, crit, opt, dev):
    losses = []
    for xb, yb in tqdm(dl, desc="train"):
        xb, yb = xb.to(dev), yb.to(dev)
        opt.zero_grad()
        out = net(xb)
        l = crit(out, yb)
        l.backward()
        opt.step()
        losses.append(l.item())  # want: item-every-step
    return np.mean(losses)

def b(model, train_loader, loss_fn, optimizer, device):
    pbar = bar(train_loader)
    for x, y in pbar:
        loss = loss_fn(model(x.to(device)), y.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        pbar.set_postfix(loss=f"{loss.item():.4f}")  # want: item-every-step

def c(model, train_loader, loss_fn, optimizer, device):
    writer = SummaryWriter()
    it = iter(train_loader)
    step = 0
    while step < 1000:
        x, y = next(it)
        loss = loss_fn(model(x.to(device)), y.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        writer.add_scalar("train/loss", loss.item(), step)  # want: item-every-step
        step += 1

def d(model, train_loader, loss_fn, optimizer, device):
    correct = 0
    for i, batch in enumerate(train_loader):
        inputs, labels = batch[0].to(device), batch[1].to(device)
        logits = model(inputs)
        loss = loss_fn(logits, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        preds = logits.argmax(dim=1)
        correct += (preds == labels).sum().item()  # want: item-every-step
        log.info("step %d loss %.3f", i, loss.item())  # want: item-every-step

def e(model, train_loader, loss_fn, optimizer, device):
    for i, batch in enumerate(train_loader):
        inputs, labels = (t.to(device, non_blocking=True) for t in batch)
        loss = loss_fn(model(inputs), labels)
        optimizer.zero_grad()
        loss.backward()
        gn = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        wandb.log({"loss": loss.item(), "gn": gn.item()}, step=i)  # want: item-every-step

def f(model, train_loader, loss_fn, optimizer, device):
    for batch in train_loader:
        batch = {k: v.to(device) for k, v in batch.items()}
        loss = model(**batch).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        metrics = {"loss": loss.detach().cpu().item()}  # want: item-every-step
        wandb.log(metrics)

def g(model, train_loader, loss_fn, optimizer, device):
    def one(x, y):
        optimizer.zero_grad()
        out = model(x)
        loss = loss_fn(out, y)
        loss.backward()
        optimizer.step()
        return loss.item()  # want: item-every-step
    total = 0.0
    for x, y in train_loader:
        total += one(x.to(device), y.to(device))
    return total

def h(model, train_loader, loss_fn, optimizer, device):
    for x, y in train_loader:
        optimizer.zero_grad()
        loss = loss_fn(model(x.to(device)), y.to(device))
        if torch.isnan(loss):  # maybe item
            raise RuntimeError("nan")
        loss.backward()
        optimizer.step()
        print("loss: {:.3f}".format(loss.item()))  # want: item-every-step
