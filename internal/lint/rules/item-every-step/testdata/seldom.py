import torch
import wandb
import pytorch_lightning as pl
from accelerate import Accelerator
from transformers import TrainerCallback
import torch.nn.functional as F
from tqdm import tqdm

def a(model, loader, crit, opt, device):
    total = torch.zeros((), device=device)
    n = 0
    for x, y in tqdm(loader):
        loss = crit(model(x.to(device)), y.to(device))
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.detach()
        n += x.shape[0]
    print("epoch loss", total.item() / n)

def b(model, loader, crit, opt, device, cfg):
    for step, (x, y) in enumerate(loader, 1):
        loss = crit(model(x.to(device)), y.to(device))
        opt.zero_grad()
        loss.backward()
        opt.step()
        if not step % cfg.log_every:
            wandb.log({"loss": loss.item()})
        if (step + 1) % 10 == 0 and cfg.verbose:
            print(loss.item())
        if cfg.log_every > 0 and step % cfg.log_every == 0:
            print(f"{loss.item()}")

def c(model, loader, crit, opt, device):
    losses = []
    it = iter(loader)
    step = 0
    while True:
        try:
            x, y = next(it)
        except StopIteration:
            break
        loss = crit(model(x.to(device)), y.to(device))
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.detach())
        step += 1
        if step % 100 != 0:
            continue
        print(torch.stack(losses).mean().item())
        losses.clear()

class Lit(pl.LightningModule):
    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = F.cross_entropy(self(x), y)
        self.log("loss", loss, prog_bar=True)
        if batch_idx % 100 == 0:
            self.print(loss.item())
        return loss
    def validation_step(self, batch, i):
        x, y = batch
        self.log("v", F.cross_entropy(self(x), y).item())
    def on_train_epoch_end(self):
        print(self.trainer.callback_metrics["loss"].item())

class CB(TrainerCallback):
    def on_log(self, args, state, control, logs=None, **kw):
        print(logs["loss"])
    def on_step_end(self, args, state, control, **kw):
        if state.global_step % args.logging_steps == 0:
            print(state.global_step)

def acc(model, opt, dl):
    accelerator = Accelerator()
    model, opt, dl = accelerator.prepare(model, opt, dl)
    total = 0
    for step, batch in enumerate(dl):
        loss = model(**batch).loss
        accelerator.backward(loss)
        opt.step()
        opt.zero_grad()
        total = total + loss.detach()
    accelerator.print(total.item() / len(dl))

def lengths(model, loader, crit, opt, device):
    seen = 0
    for x, lens, y in loader:
        seen += lens.sum().item()
        x = x.to(device, non_blocking=True)
        loss = crit(model(x, lens.tolist()), y.to(device))
        opt.zero_grad()
        loss.backward()
        opt.step()
        seen += x.size(0) + int(x.shape[1])

@torch.no_grad()
def evaluate(model, loader, crit, device):
    tot = 0
    for x, y in loader:
        tot += crit(model(x.to(device)), y.to(device)).item()
    return tot

class Runner:
    def run(self, loader, device):
        for self.it, (x, y) in enumerate(loader):
            loss = self.crit(self.model(x.to(device)), y.to(device))
            loss.backward()
            self.opt.step()
            self.opt.zero_grad()
            should = self.it % self.every == self.every - 1
            if should:
                self.log(loss.item())
            elif self.it == 0:
                self.log(loss.item())

def deco(model, loader, crit, opt, device, log_interval=10):
    next_log = 100
    for i, (x, y) in enumerate(loader):
        loss = crit(model(x.to(device)), y.to(device))
        opt.zero_grad(); loss.backward(); opt.step()
        is_log_step = (i + 1) % log_interval == 0
        if is_log_step:
            print(loss.item())
        if i >= next_log:
            print(loss.item())
            next_log += 100

