"""Runs the rules' examples on the CPU, with tiny data in place of what they get.

usage: run.py FOLDER     (FOLDER/<rule>/bad.py and FOLDER/<rule>/fixed.py)

A line of FOLDER/results.txt for each file: the rule, the file, and "ok", "skip:
why" or the error.
"""

import contextlib
import inspect
import os
import sys
import traceback
import warnings

os.environ["HF_HUB_OFFLINE"] = "1"

import torch

warnings.simplefilter("ignore")
torch.manual_seed(0)

# The CPU stands for the GPU.
for kind in (torch.Tensor, torch.nn.Module):
    kind.cuda = lambda self, *a, **k: self
real_to = torch.Tensor.to


def cpu(device):
    number = isinstance(device, int) and not isinstance(device, bool)
    return "cpu" if number or isinstance(device, torch.device) or isinstance(device, str) and device.startswith("cuda") else device


torch.Tensor.to = lambda self, *a, **k: real_to(self, *(cpu(x) for x in a), **{n: cpu(v) for n, v in k.items()})
module_to = torch.nn.Module.to
torch.nn.Module.to = lambda self, *a, **k: module_to(self, *(cpu(x) for x in a), **{n: cpu(v) for n, v in k.items()})
for name in ("zeros", "ones", "randn", "rand", "empty", "full", "arange", "tensor"):
    make = getattr(torch, name)
    setattr(torch, name, lambda *a, make=make, **k: make(*a, **{n: cpu(v) for n, v in k.items()}))
for name in ("set_device", "synchronize", "empty_cache"):
    setattr(torch.cuda, name, lambda *a, **k: None)
load = torch.load
torch.load = lambda f, map_location=None, **k: load(f, map_location="cpu", **k)
scaler = torch.amp.GradScaler
torch.amp.GradScaler = torch.cuda.amp.GradScaler = lambda *a, **k: scaler("cpu", enabled=False)
loader = torch.utils.data.DataLoader.__init__
torch.utils.data.DataLoader.__init__ = lambda self, *a, **k: loader(self, *a, **{**k, "num_workers": 0, "pin_memory": False})
torch.distributed.barrier = lambda *a, **k: None


class Wrapped(torch.nn.Module):
    """DistributedDataParallel of one process."""

    def __init__(self, module, **options):
        super().__init__()
        self.module = module

    def forward(self, *a, **k):
        return self.module(*a, **k)


torch.nn.parallel.DistributedDataParallel = Wrapped


class Net(torch.nn.Module):
    """Takes anything and gives four numbers for each example."""

    def __init__(self):
        super().__init__()
        self.head = torch.nn.Linear(1, 4)
        self.backbone = torch.nn.Linear(1, 1)

    def forward(self, *a, **k):
        x = next(v for v in (*a, *k.values()) if isinstance(v, torch.Tensor))
        return self.head(self.backbone(x.float().flatten(1).mean(1, keepdim=True)))


class Words(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.table = torch.nn.Embedding(16, 16)

    def forward(self, tokens):
        return self.table(tokens)


class Recurrent(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = torch.nn.GRU(8, 256, batch_first=True)

    def forward(self, x, state):
        return self.cell(x, state)


folder = sys.argv[1]
model = Net()
pairs = [(torch.rand(2, 3, 8, 8), torch.tensor([0, 1])) for _ in range(2)]
singles = [x for x, _ in pairs]
tokens = [(torch.randint(0, 16, (2, 5)), torch.randint(0, 16, (2, 5))) for _ in range(2)]
sequences = [(torch.rand(32, 4, 8), torch.randint(0, 4, (32,))) for _ in range(2)]
file = os.path.join(folder, "weights.pt")


def photos():
    """A folder of one class with one picture."""
    from PIL import Image

    root = os.path.join(folder, "photos.d")
    os.makedirs(os.path.join(root, "one"), exist_ok=True)
    Image.new("RGB", (8, 8)).save(os.path.join(root, "one", "1.png"))
    return root



class Last(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.head = torch.nn.Linear(256, 4)

    def forward(self, x):
        return self.head(x[:, -1])


def given():
    """What parameters of these names get."""
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    return {
        "model": net, "net": net, "module": net, "critic": Net(), "teacher": Net(), "student": net, "generator": net,
        "loader": pairs, "test_loader": pairs, "val_loader": pairs, "criterion": torch.nn.CrossEntropyLoss(), "optimizer": optimizer,
        "device": "cpu", "epochs": 1, "rank": 0, "local_rank": 0, "path": file, "log": lambda *a: None, "rate": 0.1, "steps": 2,
        "dataset": [(x[0], y[0]) for x, y in pairs], "backbone": torch.nn.Linear(2, 2), "head": torch.nn.Linear(2, 2), "vgg": Net(), "style": pairs[0][0],
        "gram": lambda x: x.mean(0, keepdim=True).expand(2, 4), "accumulate": 1, "every": 1, "clip": 1.0,
    }


mse = lambda a, b: ((a - b.float().reshape(-1, 1) if b.dim() == 1 else a - b) ** 2).mean()
special = {
    "cpu-tensor-then-move": {"loader": singles, "critic": lambda x: x.mean(1)},
    "outputs-list-on-gpu": {"loader": singles},
    "large-constant-feature-kept": {"loader": singles, "criterion": mse},
    "step-outputs-kept-alive": {"model": Words(), "loader": tokens},
    "hidden-state-not-detached": {"rnn": Recurrent(), "head": Last(), "loader": sequences},
    "loader-no-workers": {"root": photos(), "paths": [], "transform": None},
}


def tiny():
    """A folder with a language model of a few numbers."""
    from transformers import GPT2Config, GPT2LMHeadModel

    name = os.path.join(folder, "tiny.d")
    GPT2LMHeadModel(GPT2Config(n_embd=8, n_layer=1, n_head=1, n_positions=16, vocab_size=16)).save_pretrained(name)
    return name


def resumed(net, optimizer):
    torch.save({"model": net.state_dict(), "optimizer": optimizer.state_dict()}, file)


def call(rule, f):
    args = given()
    if rule == "resume-checkpoint-kept":
        resumed(args["model"], args["optimizer"])
    else:
        torch.save(args["model"].state_dict(), file)
    args.update(special.get(rule, {}))
    if rule == "use-cache-with-checkpointing":
        args["name"] = tiny()
    if rule == "loss-keeps-graph" and f.__name__ != "train_epoch":
        args["loader"] = [(x, torch.rand(2, 4)) for x, _ in pairs]
    got = []
    for name, p in inspect.signature(f).parameters.items():
        if name not in args:
            if p.default is not p.empty:
                continue
            raise LookupError(f"nothing stands for the parameter {name} of {f.__name__}")
        got.append(args[name])
    f(*got)


def run(rule, name):
    with open(name) as f:
        source = f.read()
    space = {"__name__": "example"}
    try:
        exec(compile(source, name, "exec"), space)  # the examples of this repository
        for f in [v for v in space.values() if inspect.isfunction(v) and v.__module__ == "example"]:
            call(rule, f)
    except (ImportError, LookupError, OSError) as e:
        return f"skip: {e}"
    except Exception:
        return "error: " + traceback.format_exc(limit=-2).replace("\n", " | ")
    finally:
        torch.autograd.set_detect_anomaly(False)
    return "ok"


with open(os.path.join(folder, "results.txt"), "w") as results:
    for rule in sorted(os.listdir(folder)):
        for name in ("bad.py", "fixed.py"):
            path = os.path.join(folder, rule, name)
            if os.path.exists(path):
                with contextlib.redirect_stdout(sys.stderr):
                    said = run(rule, path)
                print(rule, name, said.replace("\n", " "), file=results, flush=True)
