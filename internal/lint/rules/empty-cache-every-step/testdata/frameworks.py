import gc
import torch
import torch as th
from torch import cuda
from torch.cuda import empty_cache
from torch.cuda import empty_cache as ec
import pytorch_lightning as pl
import lightning.pytorch as L
from accelerate import Accelerator
from accelerate.utils import release_memory
from transformers import TrainerCallback, Trainer, TrainingArguments

def cleanup():
    gc.collect()
    torch.cuda.empty_cache()  # want: empty-cache-every-step

def a(net, dl, crit, opt):
    for xb, yb in dl:
        loss = crit(net(xb.cuda()), yb.cuda())
        opt.zero_grad(); loss.backward(); opt.step()
        del loss
        cleanup()

def b(net, dl, crit, opt):
    it = iter(dl)
    for _ in range(1000):
        xb, yb = next(it)
        th.cuda.empty_cache()  # want: empty-cache-every-step
        loss = crit(net(xb.cuda()), yb.cuda())
        opt.zero_grad(); loss.backward(); opt.step()

def c(net, dl, crit, opt):
    step = 0
    while step < 100:
        for xb, yb in dl:
            loss = crit(net(xb.cuda()), yb.cuda())
            opt.zero_grad(); loss.backward(); opt.step()
            step += 1
            cuda.empty_cache()  # want: empty-cache-every-step
            empty_cache()  # want: empty-cache-every-step
            ec()  # want: empty-cache-every-step

class Lit(pl.LightningModule):
    def training_step(self, batch, i):
        loss = self.model(batch).mean()
        torch.cuda.empty_cache()  # want: empty-cache-every-step
        return loss
    def on_train_batch_end(self, *a):
        torch.cuda.empty_cache()  # want: empty-cache-every-step

class CB(L.Callback):
    def on_train_batch_start(self, trainer, m, batch, i):
        torch.cuda.empty_cache()  # want: empty-cache-every-step

class HF(TrainerCallback):
    def on_step_end(self, args, state, control, **kwargs):
        torch.cuda.empty_cache()  # want: empty-cache-every-step

class T(Trainer):
    def training_step(self, model, inputs, num=None):
        out = super().training_step(model, inputs)
        torch.cuda.empty_cache()  # want: empty-cache-every-step
        return out

def acc(model, opt, dl):
    accelerator = Accelerator()
    model, opt, dl = accelerator.prepare(model, opt, dl)
    for batch in dl:
        loss = model(**batch).loss
        accelerator.backward(loss)
        opt.step(); opt.zero_grad()
        if torch.cuda.is_available():
            torch.cuda.empty_cache()  # want: empty-cache-every-step

def acc2(model, opt, dl):
    accelerator = Accelerator()
    model, opt, dl = accelerator.prepare(model, opt, dl)
    for batch in dl:
        accelerator.backward(model(**batch).loss)
        opt.step(); opt.zero_grad()
        accelerator.free_memory()  # want: empty-cache-every-step

class Tr:
    def clear(self):
        torch.cuda.empty_cache()  # want: empty-cache-every-step
    def one(self, x, y):
        loss = self.crit(self.model(x), y)
        loss.backward()
        self.opt.step()
        self.clear()
    def fit(self, dl):
        for x, y in dl:
            self.one(x, y)

@torch.no_grad()
def evaluate(model, loader, device):
    for x, y in loader:
        model(x.to(device))
        torch.cuda.empty_cache()  # want: empty-cache-every-step

args = TrainingArguments("o", torch_empty_cache_steps=1)  # want: empty-cache-every-step
kw = dict(torch_empty_cache_steps=1, output_dir="o")  # want: empty-cache-every-step
args2 = TrainingArguments(**kw)

def tr(net, dl, crit, opt):
    for xb, yb in dl:
        try:
            loss = crit(net(xb.cuda()), yb.cuda())
            opt.zero_grad(); loss.backward(); opt.step()
        finally:
            torch.cuda.empty_cache()  # want: empty-cache-every-step

def dev(net, dl, crit, opt, device):
    for xb, yb in dl:
        loss = crit(net(xb.to(device)), yb.to(device))
        opt.zero_grad(); loss.backward(); opt.step()
        with torch.cuda.device(device):
            torch.cuda.empty_cache()  # want: empty-cache-every-step
        if device.type == "cuda":
            torch.cuda.empty_cache()  # want: empty-cache-every-step
