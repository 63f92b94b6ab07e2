import os
import torch
from torch import save as tsave
import pickle
import pytorch_lightning as pl
import lightning as L
from lightning.pytorch.callbacks import ModelCheckpoint
from accelerate import Accelerator
from transformers import TrainerCallback, Trainer, TrainingArguments
from safetensors.torch import save_file
import torch.distributed.checkpoint as dcp
from tqdm import tqdm

def save_ckpt(model, opt, step, out):
    torch.save({"model": model.state_dict(), "opt": opt.state_dict(), "step": step}, os.path.join(out, f"{step}.pt"))  # want: save-every-step

def a(net, dl, crit, opt):
    for i, (xb, yb) in enumerate(tqdm(dl)):
        loss = crit(net(xb.cuda()), yb.cuda())
        opt.zero_grad(); loss.backward(); opt.step()
        save_ckpt(net, opt, i, "out")

def b(net, dl, crit, opt):
    step = 0
    it = iter(dl)
    while step < 1000:
        xb, yb = next(it)
        loss = crit(net(xb.cuda()), yb.cuda())
        opt.zero_grad(); loss.backward(); opt.step()
        step += 1
        tsave(net.state_dict(), f"m{step}.pth")  # want: save-every-step

def c(net, dl, crit, opt):
    for xb, yb in dl:
        loss = crit(net(xb.cuda()), yb.cuda())
        opt.zero_grad(); loss.backward(); opt.step()
        with open("latest.pt", "wb") as f:
            torch.save(net, f)  # want: save-every-step
        save_file(net.state_dict(), "m.safetensors")  # want: save-every-step
        dcp.save({"m": net.state_dict()}, checkpoint_id="x")  # want: save-every-step

def c2(net, dl, crit, opt):
    for xb, yb in dl:
        loss = crit(net(xb.cuda()), yb.cuda())
        opt.zero_grad(); loss.backward(); opt.step()
        with open("latest.pkl", "wb") as f:
            pickle.dump(net.state_dict(), f)  # want: save-every-step

class Lit(pl.LightningModule):
    def training_step(self, batch, i):
        loss = self.model(batch).mean()
        return loss
    def on_train_batch_end(self, outputs, batch, batch_idx):
        self.trainer.save_checkpoint("last.ckpt")  # want: save-every-step

class CB(L.Callback):
    def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx):
        torch.save(pl_module.state_dict(), "last.pt")  # want: save-every-step

class HF(TrainerCallback):
    def on_step_end(self, args, state, control, model=None, **kwargs):
        model.save_pretrained(args.output_dir)  # want: save-every-step
        control.should_save = True  # want: save-every-step
        return control

def acc(model, opt, dl):
    accelerator = Accelerator()
    model, opt, dl = accelerator.prepare(model, opt, dl)
    for batch in dl:
        accelerator.backward(model(**batch).loss)
        opt.step(); opt.zero_grad()
        accelerator.save_state("out")  # want: save-every-step

def acc2(model, opt, dl):
    accelerator = Accelerator()
    model, opt, dl = accelerator.prepare(model, opt, dl)
    for batch in dl:
        accelerator.backward(model(**batch).loss)
        opt.step(); opt.zero_grad()
        accelerator.wait_for_everyone()
        if accelerator.is_main_process:
            accelerator.unwrap_model(model).save_pretrained("out")  # want: save-every-step
            accelerator.save(model.state_dict(), "x.pt")  # want: save-every-step

args = TrainingArguments("o", save_strategy="steps", save_steps=1)  # want: save-every-step
cb = ModelCheckpoint(dirpath="x", every_n_train_steps=1, save_top_k=-1)  # want: save-every-step
kw = {"output_dir": "o", "save_steps": 1}  # want: save-every-step
args2 = TrainingArguments(**kw)

class Tr:
    def __init__(self, model, opt, crit):
        self.model, self.opt, self.crit = model, opt, crit
    def _save(self, name="last"):
        state = dict(model=self.model.state_dict(), optimizer=self.opt.state_dict())
        torch.save(state, name)  # want: save-every-step
    def fit(self, dl):
        for x, y in dl:
            loss = self.crit(self.model(x.cuda()), y.cuda())
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            self._save()

def ds(engine, dl):
    for step, batch in enumerate(dl):
        loss = engine(batch)
        engine.backward(loss)
        engine.step()
        engine.save_checkpoint("out", tag=f"s{step}")  # want: save-every-step

def rank(net, dl, crit, opt, rank):
    for xb, yb in dl:
        loss = crit(net(xb.cuda()), yb.cuda())
        opt.zero_grad(); loss.backward(); opt.step()
        if rank == 0:
            torch.save(obj={"m": net.module.state_dict()}, f="x.pt")  # want: save-every-step
