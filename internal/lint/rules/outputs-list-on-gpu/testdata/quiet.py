import pytorch_lightning as pl
import torch


def on_cpu(model, loader):
    outs = []
    with torch.no_grad():
        for x in loader:
            outs.append(model(x))
    return torch.cat(outs)


def numpy(model, loader, device):
    outs = []
    with torch.no_grad():
        for x in loader:
            out = model(x.to(device))
            outs.append(out.detach().cpu().numpy())
            outs.extend(out.argmax(-1).tolist())
    return outs


def losses(model, loader, criterion, device):
    found = []
    correct = []
    with torch.no_grad():
        for x, y in loader:
            out = model(x.to(device))
            loss = criterion(out, y.to(device))
            found.append(loss)
            correct.append((out.argmax(1) == y.to(device)).sum())
    return found, correct


def moved(model, loader, device):
    outs = []
    with torch.no_grad():
        for x in loader:
            out = model(x.to(device))
            out = out.to("cpu")
            outs.append(out)
    return outs


def flushed(model, loader, device, path):
    outs = []
    with torch.no_grad():
        for i, x in enumerate(loader):
            outs.append(model(x.to(device)))
            if len(outs) == 8:
                torch.save(outs, path)
                outs = []


def within(model, loader, device):
    with torch.no_grad():
        for views in loader:
            scores = []
            for view in views:
                scores.append(model(view.to(device)))
            print(torch.stack(scores).mean().item())


def few(model, loader, device):
    shown = []
    with torch.no_grad():
        for i, x in enumerate(loader):
            if i == 4:
                break
            shown.append(model(x.to(device)))
    return shown


def rollout(agent, env, device, steps):
    values = torch.zeros(steps, device=device)
    state = torch.zeros(4, device=device)
    for step in range(steps):
        with torch.no_grad():
            value = agent(state)
        values[step] = value
    return values


class Lit(pl.LightningModule):
    def validation_step(self, batch, index):
        loss = self.net(batch).mean()
        self.log("loss", loss)
        return loss

    def validation_epoch_end(self, outputs):
        print(torch.stack(outputs).mean())


@torch.no_grad()
def sample(model, shape, steps, device):
    image = torch.randn(shape, device=device)
    images = [image]
    for t in reversed(range(steps)):
        image = model(image, t)
        images.append(image)
    return torch.stack(images)
