import torch
from torch import nn
from torch.nn.parallel import DataParallel


def wrap(model):
    return nn.DataParallel(model.cuda())  # want: dataparallel-gathers-outputs


def train(net, loader, criterion, optimizer):
    model = wrap(net)
    for x, y in loader:
        loss = criterion(model(x), y.cuda())
        loss.backward()
        optimizer.step()


def ids(net, loader, criterion, optimizer):
    net = DataParallel(net, device_ids=list(range(4))).to("cuda:0")  # want: dataparallel-gathers-outputs
    for batch in loader:
        optimizer.zero_grad()
        out = net(batch["image"])
        loss = criterion(out["logits"], batch["label"].cuda())
        loss.backward()
        optimizer.step()


def inline(net, loader, criterion, optimizer):
    net = net.cuda()
    parallel = torch.nn.DataParallel(net) if torch.cuda.device_count() > 1 else net  # want: dataparallel-gathers-outputs
    for x, y in loader:
        pred = parallel(x)
        criterion(pred, y).backward()
        optimizer.step()
