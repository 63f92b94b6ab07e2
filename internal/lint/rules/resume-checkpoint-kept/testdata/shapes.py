import os

import lightning as L
import torch


def run(cfg, model, optimizer, scheduler, loader, criterion):
    epoch, best = 0, 0.0
    device = torch.device("cuda")
    if os.path.isfile(cfg.path):
        with open(cfg.path, "rb") as handle:
            saved = torch.load(handle, map_location=device, weights_only=True)  # want: resume-checkpoint-kept
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        scheduler.load_state_dict(saved["scheduler"])
        epoch, best = saved["epoch"], saved["best"]
    while epoch < cfg.epochs:
        for x, y in loader:
            optimizer.zero_grad(set_to_none=True)
            criterion(model(x.to(device)), y.to(device)).backward()
            optimizer.step()
        scheduler.step()
        epoch += 1


def fit(module, path, loader):
    state = torch.load(path, map_location="cuda:0")  # want: resume-checkpoint-kept
    module.load_state_dict(state["state_dict"])
    trainer = L.Trainer(max_epochs=3)
    trainer.fit(module, loader)


class Engine:
    def __init__(self, model, optimizer, loader):
        self.model, self.optimizer, self.loader = model, optimizer, loader

    def epoch(self):
        for x in self.loader:
            self.optimizer.zero_grad()
            self.model(x).mean().backward()
            self.optimizer.step()

    def run(self, path, device):
        checkpoint = torch.load(path, map_location=device)  # want: resume-checkpoint-kept
        self.model.load_state_dict(checkpoint["model"])
        self.optimizer.load_state_dict(checkpoint["optimizer"])
        for _ in range(checkpoint["left"]):
            self.epoch()


class Keeps:
    def __init__(self, model, optimizer, path):
        self.model, self.optimizer = model, optimizer
        self.checkpoint = torch.load(path, map_location="cuda")  # want: resume-checkpoint-kept
        self.model.load_state_dict(self.checkpoint["model"])

    def train(self, loader):
        for x in loader:
            self.model(x).mean().backward()
            self.optimizer.step()


def comprehension(model, optimizer, loader, path):
    raw = torch.load(path, map_location="cuda")["model"]  # want: resume-checkpoint-kept
    model.load_state_dict({k.removeprefix("module."): v for k, v in raw.items()})
    for x in loader:
        model(x).mean().backward()
        optimizer.step()
