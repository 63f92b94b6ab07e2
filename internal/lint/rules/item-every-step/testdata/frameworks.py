import torch
import pytorch_lightning as pl
import lightning as L
from accelerate import Accelerator
from transformers import Trainer, TrainerCallback
import torch.nn.functional as F

class Lit(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Linear(3, 3)
        self.hist = []

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = F.cross_entropy(self.net(x), y)
        self.log("train_loss", loss.item())  # want: item-every-step
        return loss

    def on_train_batch_end(self, outputs, batch, batch_idx):
        self.hist.append(outputs["loss"].item())  # want: item-every-step

class Lit2(L.LightningModule):
    def training_step(self, batch, i):
        out = self.model(**batch)
        acc = (out.logits.argmax(-1) == batch["labels"]).float().mean()
        self.log_dict({"loss": out.loss, "acc": acc.cpu().numpy()})
        return out.loss

def acc(model, opt, dl):
    accelerator = Accelerator()
    model, opt, dl = accelerator.prepare(model, opt, dl)
    tot = 0
    for step, batch in enumerate(dl):
        with accelerator.accumulate(model):
            outputs = model(**batch)
            loss = outputs.loss
            tot += loss.detach().float().item()  # want: item-every-step
            accelerator.backward(loss)
            opt.step()
            opt.zero_grad()
        accelerator.log({"l": loss.item()}, step=step)  # want: item-every-step

def acc2(model, opt, dl):
    accelerator = Accelerator()
    model, opt, dl = accelerator.prepare(model, opt, dl)
    for step, batch in enumerate(dl):
        loss = model(**batch)["loss"]
        accelerator.backward(loss)
        opt.step()
        opt.zero_grad()
        gathered = accelerator.gather(loss.detach().repeat(8)).mean()
        accelerator.print(f"{step}: {gathered.item()}")  # want: item-every-step

class T(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, **kw):
        labels = inputs.pop("labels")
        outputs = model(**inputs)
        loss = F.cross_entropy(outputs.logits.view(-1, 10), labels.view(-1))
        self.seen.append(loss.item())  # want: item-every-step
        return (loss, outputs) if return_outputs else loss

class Fit:
    def __init__(self, model, optim, crit, device="cuda"):
        self.model = model.to(device)
        self.optim = optim
        self.crit = crit
        self.device = device
        self.avg = Meter()

    def step(self, batch):
        imgs, tgts = batch
        imgs = imgs.to(self.device)
        tgts = tgts.to(self.device)
        out = self.model(imgs)
        loss = self.crit(out, tgts)
        self.optim.zero_grad(set_to_none=True)
        loss.backward()
        self.optim.step()
        self.avg.update(loss.item(), imgs.size(0))  # want: item-every-step

    def run(self, dl, epochs):
        for ep in range(epochs):
            for b in dl:
                self.step(b)

class Meter:
    def __init__(self):
        self.s = 0
        self.n = 0
    def update(self, v, n):
        self.s += v * n
        self.n += n

def amp(model, loader, opt, scaler):
    model.cuda()
    for x, y in loader:
        x, y = x.cuda(), y.cuda()
        with torch.autocast("cuda"):
            a, b = model(x)
            l1 = F.mse_loss(a, y)
            l2 = F.l1_loss(b, y)
            loss = l1 + 0.1 * l2
        scaler.scale(loss).backward()
        scaler.step(opt)
        scaler.update()
        opt.zero_grad()
        stats = [l1.item(), l2.item()]  # want: item-every-step
        hist = float(loss)  # want: item-every-step

def gan(G, D, loader, og, od, bce, device):
    for i, real in enumerate(loader):
        real = real.to(device)
        od.zero_grad()
        dl = bce(D(real), torch.ones(len(real), device=device))
        dl.backward()
        od.step()
        og.zero_grad()
        gl = bce(D(G(torch.randn(8, 3, device=device))), torch.ones(8, device=device))
        gl.backward()
        og.step()
        print('[%d] Loss_D: %.4f Loss_G: %.4f' % (i, dl.item(), gl.item()))  # want: item-every-step

def cm(model, loader, criterion, optimizer):
    dev = torch.device("cuda:0")
    allp = []
    for data, target in loader:
        data = data.to(dev); target = target.to(dev)
        output = model(data)
        loss = criterion(output, target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        _, pred = torch.max(output, 1)
        allp.extend(pred.cpu().numpy())  # want: item-every-step
        acc = (pred == target).float().mean().item()  # want: item-every-step

def report_metrics(loss, step, writer):
    writer.add_scalar("loss", loss.item(), step)  # want: item-every-step

def helper(model, loader, criterion, optimizer, device, writer):
    for step, (x, y) in enumerate(loader):
        loss = criterion(model(x.to(device)), y.to(device))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        report_metrics(loss, step, writer)
