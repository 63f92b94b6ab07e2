import gc
import torch
import pytorch_lightning as pl
from transformers import TrainerCallback, TrainingArguments

def a(net, dl, crit, opt, args):
    for ep in range(10):
        for i, (xb, yb) in enumerate(dl):
            try:
                loss = crit(net(xb.cuda()), yb.cuda())
                opt.zero_grad(); loss.backward(); opt.step()
            except torch.cuda.OutOfMemoryError:
                oom = True
                torch.cuda.empty_cache()
                continue
            if i % 500 == 0:
                torch.cuda.empty_cache()
            if args.empty_cache_freq > 0 and i % args.empty_cache_freq == 0:
                torch.cuda.empty_cache()
        gc.collect()
        torch.cuda.empty_cache()

def clear():
    gc.collect()
    torch.cuda.empty_cache()

def b(net, dl, crit, opt):
    for xb, yb in dl:
        loss = crit(net(xb.cuda()), yb.cuda())
        opt.zero_grad(); loss.backward(); opt.step()
    clear()

class Lit(pl.LightningModule):
    def on_validation_epoch_end(self):
        torch.cuda.empty_cache()
    def on_train_epoch_start(self):
        torch.cuda.empty_cache()
    def training_step(self, batch, i):
        if i % 1000 == 0:
            torch.cuda.empty_cache()
        return self.model(batch).mean()

class HF(TrainerCallback):
    def on_evaluate(self, args, state, control, **kwargs):
        torch.cuda.empty_cache()
    def on_step_end(self, args, state, control, **kwargs):
        if state.global_step % 100 == 0:
            torch.cuda.empty_cache()
    def on_epoch_end(self, args, state, control, **k):
        torch.cuda.empty_cache()

TrainingArguments("o", torch_empty_cache_steps=50)

def folds(make, data, optimizer):
    for fold in range(5):
        model = make()
        for x, y in data:
            model(x).backward(); optimizer.step()
        del model
        torch.cuda.empty_cache()

def mem(net, dl, crit, opt):
    for xb, yb in dl:
        loss = crit(net(xb.cuda()), yb.cuda())
        opt.zero_grad(); loss.backward(); opt.step()
        if torch.cuda.memory_reserved() > 0.9 * 80e9:
            torch.cuda.empty_cache()
