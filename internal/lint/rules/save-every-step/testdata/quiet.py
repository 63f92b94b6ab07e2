import os
import threading
import torch
import pytorch_lightning as pl
from lightning.pytorch.callbacks import ModelCheckpoint
from transformers import TrainerCallback, TrainingArguments

def a(net, dl, crit, opt, cfg):
    best = 1e9
    for ep in range(3):
        for i, (xb, yb) in enumerate(dl):
            loss = crit(net(xb.cuda()), yb.cuda())
            opt.zero_grad(); loss.backward(); opt.step()
            if (i + 1) % cfg.save_every == 0:
                torch.save(net.state_dict(), "x")
            if i in (10, 100):
                torch.save(net.state_dict(), "x")
            if i == len(dl) - 1:
                torch.save(net.state_dict(), "x")
        torch.save(net.state_dict(), f"ep{ep}.pt")
        val = evaluate(net, dl)
        if val < best:
            best = val
            torch.save(net.state_dict(), "best.pt")

def evaluate(net, dl):
    return 0

def save_ckpt(net, step):
    torch.save(net.state_dict(), f"{step}.pt")

def b(net, dl, crit, opt, cfg):
    step = 0
    while step < cfg.max_steps:
        for xb, yb in dl:
            loss = crit(net(xb.cuda()), yb.cuda())
            opt.zero_grad(); loss.backward(); opt.step()
            step += 1
            if step % cfg.every == 0 or step == cfg.max_steps:
                save_ckpt(net, step)
            if step >= cfg.max_steps:
                save_ckpt(net, step)
                break

class Lit(pl.LightningModule):
    def on_train_epoch_end(self):
        torch.save(self.state_dict(), "x.pt")
    def on_save_checkpoint(self, ckpt):
        torch.save(self.state_dict(), "x.pt")
    def on_train_batch_end(self, outputs, batch, batch_idx):
        if self.global_step % 1000 == 0:
            self.trainer.save_checkpoint("x")

class HF(TrainerCallback):
    def on_step_end(self, args, state, control, model=None, **kwargs):
        if state.global_step % 500 == 0:
            model.save_pretrained(args.output_dir)
            control.should_save = True
    def on_epoch_end(self, args, state, control, model=None, **kwargs):
        model.save_pretrained(args.output_dir)
        control.should_save = True

TrainingArguments("o", save_strategy="steps", save_steps=1000)
TrainingArguments("o", save_strategy="epoch", save_steps=1)
ModelCheckpoint(every_n_train_steps=500)
ModelCheckpoint(every_n_epochs=1)

def thread(net, dl, crit, opt):
    for i, (xb, yb) in enumerate(dl):
        loss = crit(net(xb.cuda()), yb.cuda())
        opt.zero_grad(); loss.backward(); opt.step()
        if i % 1000 == 0:
            state = {k: v.cpu() for k, v in net.state_dict().items()}
            threading.Thread(target=torch.save, args=(state, "x.pt")).start()

def best(net, dl, crit, opt):
    low = 1e9
    for i, (xb, yb) in enumerate(dl):
        loss = crit(net(xb.cuda()), yb.cuda())
        opt.zero_grad(); loss.backward(); opt.step()
        if i % 100 == 0:
            v = loss.item()
            if v < low:
                low = v
                torch.save(net.state_dict(), "b.pt")

def feats(net, dl):
    with torch.no_grad():
        for i, x in enumerate(dl):
            torch.save(net(x.cuda()).cpu(), f"{i}.pt")

def models(make, dls):
    for name, dl in dls.items():
        net = make(name)
        train_one(net, dl)
        torch.save(net.state_dict(), name)

def train_one(net, dl):
    opt = torch.optim.SGD(net.parameters(), 0.1)
    for x in dl:
        net(x.cuda()).mean().backward()
        opt.step()
        opt.zero_grad()
