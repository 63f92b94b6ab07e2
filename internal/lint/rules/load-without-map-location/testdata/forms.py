import torch
import torch.distributed as dist
from torch import load, nn


def direct(model, path):
    model.load_state_dict(torch.load(path))  # want: load-without-map-location
    return nn.parallel.DistributedDataParallel(model)


def resume(model, optimizer, path):
    checkpoint = load(path, map_location=None)  # want: load-without-map-location
    model.load_state_dict(checkpoint["model"])
    optimizer.load_state_dict(checkpoint["optimizer"])
    return checkpoint["epoch"]


def read_checkpoint(path):
    return torch.load(path)  # want: load-without-map-location


class Engine:
    def __init__(self, path):
        dist.init_process_group("nccl")
        how = dict(weights_only=True)
        with open(path, "rb") as f:
            self.snapshot = torch.load(f, **how)  # want: load-without-map-location


def part(model, path):
    model.load_state_dict({k: v for k, v in torch.load(path)["model"].items()})  # want: load-without-map-location
