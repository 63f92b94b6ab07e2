import torch
from transformers import Trainer


def optional(model, optimizer, train_loader, criterion, args):
    start = 0
    if args.resume:
        ckpt = torch.load(args.resume)  # want: resume-checkpoint-kept
        model.load_state_dict(ckpt["state_dict"])
        optimizer.load_state_dict(ckpt["optimizer"])
        start = ckpt["epoch"]
    for epoch in range(start, args.epochs):
        train_epoch(model, optimizer, train_loader, criterion)


def train_epoch(model, optimizer, loader, criterion):
    for x, y in loader:
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


def part(model, loader, optimizer, criterion, path, local_rank):
    state = torch.load(path, map_location=f"cuda:{local_rank}")["model"]  # want: resume-checkpoint-kept
    model.load_state_dict(state)
    train_epoch(model, optimizer, loader, criterion)


def alias(model, loader, optimizer, criterion, path, device):
    checkpoint = torch.load(path, map_location=device)
    state_dict = checkpoint["model"]  # want: resume-checkpoint-kept
    for k in list(state_dict):
        if k.startswith("module."):
            state_dict[k[7:]] = state_dict.pop(k)
    model.load_state_dict(state_dict)
    checkpoint = None
    for x, y in loader:
        criterion(model(x), y).backward()
        optimizer.step()


def hf(model, data, path):
    weights = torch.load(path, map_location="cuda")  # want: resume-checkpoint-kept
    model.load_state_dict(weights, strict=False)
    trainer = Trainer(model, train_dataset=data)
    trainer.train()


class Engine:
    def run(self, path):
        saved = torch.load(path, map_location=self.device)  # want: resume-checkpoint-kept
        self.model.load_state_dict(saved["model"])
        while self.step < 100:
            for batch in self.loader:
                self.optimizer.zero_grad()
                self.model(batch).mean().backward()
                self.optimizer.step()
