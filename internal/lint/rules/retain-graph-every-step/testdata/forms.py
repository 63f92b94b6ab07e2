import lightning as L
import torch


def train_step(model, batch, criterion, optimizer):
    optimizer.zero_grad()
    loss = criterion(model(batch["x"]), batch["y"])
    loss.backward(retain_graph=True)  # want: retain-graph-every-step
    optimizer.step()
    return loss.item()


def scaled(model, loader, criterion, optimizer, scaler):
    for i, (x, y) in enumerate(loader):
        with torch.autocast("cuda"):
            loss = criterion(model(x), y)
        scaler.scale(loss).backward(retain_graph=True)  # want: retain-graph-every-step
        scaler.step(optimizer)
        scaler.update()


def either(model, loader, criterion, optimizer, scaler, amp):
    for x, y in loader:
        loss = criterion(model(x), y)
        if amp:
            scaler.scale(loss).backward(retain_graph=True)  # want: retain-graph-every-step
        else:
            loss.backward(retain_graph=True)  # want: retain-graph-every-step
        optimizer.step()


def accelerated(model, loader, optimizer, accelerator):
    for batch in loader:
        with accelerator.accumulate(model):
            loss = model(**batch).loss
            accelerator.backward(loss, retain_graph=True)  # want: retain-graph-every-step
            optimizer.step()
            optimizer.zero_grad()


def micro(model, batches, criterion, optimizer):
    for epoch in range(3):
        for batch in batches:
            for x, y in batch:
                (criterion(model(x), y) / len(batch)).backward(retain_graph=True)  # want: retain-graph-every-step
            optimizer.step()
            optimizer.zero_grad()


def last(encoder, head_a, head_b, loader, optimizer):
    it = iter(loader)
    while True:
        batch = next(it, None)
        if batch is None:
            break
        features = encoder(batch)
        loss_a = head_a(features).mean()
        loss_b = head_b(features).mean()
        loss_a.backward(retain_graph=True)
        loss_b.backward(retain_graph=True)  # want: retain-graph-every-step
        optimizer.step()


def positional(model, loader, optimizer):
    for x in loader:
        loss = model(x).mean()
        loss.backward(None, True)  # want: retain-graph-every-step
        optimizer.step()


def options(model, loader, optimizer):
    how = {"retain_graph": True}
    for x in loader:
        loss = model(x).mean()
        loss.backward(**how)  # want: retain-graph-every-step
        optimizer.step()


class Lit(L.LightningModule):
    def training_step(self, batch, index):
        loss = self.net(batch).mean()
        self.manual_backward(loss, retain_graph=True)  # want: retain-graph-every-step
        self.optimizers().step()


class Engine:
    def fit(self, loader):
        for batch in loader:
            self.optimizer.zero_grad()
            self.loss = self.criterion(self.model(batch))
            self.loss.backward(retain_graph=True)  # want: retain-graph-every-step
            self.optimizer.step()
