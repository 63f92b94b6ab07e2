import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader as DL
from torch.nn.parallel import DistributedDataParallel as DDP


class Net(nn.Module):
    def __init__(self, vgg):
        super().__init__()
        self.body = nn.Linear(3, 4)
        self.vgg = vgg
        self.heads = nn.ModuleList([nn.Linear(4, 4)])
        for p in self.vgg.parameters():
            p.requires_grad = False

    def forward(self, x):  # func: hot
        probe(self.body)  # is: module
        probe(self.body(x))  # is: tensor grad gpu
        probe(self.vgg(torch.zeros(3)))  # is: tensor nograd
        return self.body(x), x.shape

    def helper(self):  # func:
        return self.heads[0]


def make_loader(data, batch):  # func:
    return DL(data, batch)


def main(args):  # func: backward steps
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = DDP(Net(args.vgg).to(device))
    probe(model)  # is: module gpu
    optimizer = torch.optim.AdamW(model.parameters())
    loader = make_loader(args.data, 4)
    probe(loader)  # is: loader
    ctx = torch.autocast("cuda") if args.amp else torch.enable_grad()
    best = 0
    for round in range(args.epochs):  # loop: epoch
        probe(best, 1)  # is: number step=false hot=false gradoff=false autocast=false
        for i, (x, y) in enumerate(loader):  # loop: step
            probe(x)  # is: tensor nograd cpu
            x = x.to(device, non_blocking=True)
            probe(x)  # is: tensor nograd gpu
            with ctx:
                out, shape = model(x)
                probe(out, 1)  # is: tensor grad gpu step=true hot=true gradoff=false autocast=true
                loss = F.cross_entropy(out, y.cuda()) + 0.1
            probe(loss)  # is: tensor grad loss gpu
            probe(loss.item())  # is: number
            probe(loss.detach())  # is: tensor nograd loss gpu
            _, pred = out.max(1)
            probe(pred)  # is: tensor nograd gpu
            probe((pred == y).sum())  # is: tensor nograd gpu
            if i % 10 == 0:
                probe(loss, 1)  # is: tensor grad loss gpu step=true hot=false gradoff=false autocast=false
            if i % 10 == 0 and args.rank == 0:
                probe(loss, 1)  # is: tensor grad loss gpu step=true hot=false gradoff=false autocast=false
            if args.rank == 0:
                probe(loss, 1)  # is: tensor grad loss gpu step=true hot=true gradoff=false autocast=false
            if i % 10 != 0:
                continue
            probe(loss, 1)  # is: tensor grad loss gpu step=true hot=false gradoff=false autocast=false
            loss.backward()
            optimizer.step()
        best = evaluate(model, loader)
    ckpt = torch.load(args.path, map_location="cpu")
    state = ckpt["model"]
    probe(state)  # is: checkpoint cpu
    xs = [model(x)[0] for x in loader]
    probe(xs[0])  # is: tensor grad gpu
    probe(torch.cat(xs))  # is: tensor grad gpu
    probe(sum(xs))  # is: tensor grad gpu


@torch.no_grad()
def evaluate(model, loader):  # func: gradoff eval
    total = 0
    for x, y in loader:  # loop: eval
        total += predict(model, x)
        probe(total, 1)  # is: tensor nograd step=false hot=false gradoff=true autocast=false
    return total


def predict(model, x):  # func: gradoff eval
    return model(x).mean()


def train_step(batch, net, opt):  # func: backward steps hot
    opt.zero_grad()
    loss = unknown(net, batch)
    probe(loss)  # is: tensor grad loss
    for micro in batch:  # loop: step micro
        other(micro).backward()
    loss.backward()
    opt.step()
