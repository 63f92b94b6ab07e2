import lightning as L
import torch


def predict_batch(model, inputs):
    return model(inputs).argmax(-1)


def predict(model, loader, device):
    found = []
    with torch.inference_mode():
        for inputs in loader:
            found.append(predict_batch(model, inputs.to(device)).cpu())
    return torch.cat(found)


def inner(model, loader, criterion):
    model.eval()
    total = 0
    for x, y in loader:
        with torch.no_grad():
            total += criterion(model(x), y)
    return total


def switched(model, loader):
    torch.set_grad_enabled(False)
    model.eval()
    for x in loader:
        print(model(x).mean())


def phases(model, loaders, criterion, optimizer):
    for phase in ("train", "val"):
        for x, y in loaders[phase]:
            with torch.set_grad_enabled(phase == "train"):
                loss = criterion(model(x), y)
                if phase == "train":
                    loss.backward()
                    optimizer.step()


def attack_accuracy(model, loader, criterion, epsilon):
    model.eval()
    right = 0
    for x, y in loader:
        x.requires_grad = True
        loss = criterion(model(x), y)
        loss.backward()
        right += (model(x + epsilon * x.grad.sign()).argmax(1) == y).sum().item()
    return right


def adversarial_test(model, loader, attack):
    model.eval()
    for x, y in loader:
        x = attack.perturb(x, y)
        print(model(x).argmax(1) == y)


def frozen(model, loader):
    model.eval()
    for p in model.parameters():
        p.requires_grad = False
    for x in loader:
        print(model(x).mean())


class Lit(L.LightningModule):
    def validation_step(self, batch, index):
        for part in batch.chunk(2):
            self.log("loss", self.net(part).mean())


@torch.no_grad()
def decorated(model, loader):
    for x in loader:
        yield model(x)


def train(model, loader, optimizer, criterion, test=False):
    for x, y in loader:
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()


def smooth(loader, pool):
    pool = torch.nn.AvgPool2d(2)
    for x in loader:
        print(pool(x))
