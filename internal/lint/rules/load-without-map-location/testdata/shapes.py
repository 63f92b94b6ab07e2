import os

import torch
import torch.distributed as dist
from accelerate import Accelerator
from torch.nn.parallel import DistributedDataParallel as DDP


class Runner:
    def __init__(self, model, path):
        self.rank = int(os.environ["LOCAL_RANK"])
        torch.cuda.set_device(self.rank)
        dist.init_process_group("nccl")
        self.model = model
        self.resume(path)
        self.model = DDP(self.model.cuda(), device_ids=[self.rank])

    def resume(self, path):
        snapshot = torch.load(path)  # want: load-without-map-location
        self.model.load_state_dict(snapshot["MODEL_STATE"])
        self.epoch = snapshot["EPOCHS_RUN"]


def load_weights(model, path):
    with open(path, "rb") as handle:
        weights = torch.load(handle, weights_only=True)  # want: load-without-map-location
    model.load_state_dict(weights, strict=False)


def main(model, path):
    dist.init_process_group("nccl")
    rank = dist.get_rank()
    torch.cuda.set_device(rank)
    load_weights(model, path)
    return DDP(model.to(rank), device_ids=[rank])


def accelerated(model, path):
    accelerator = Accelerator()
    if os.path.exists(path):
        model.load_state_dict(torch.load(path)["model"])  # want: load-without-map-location
    return accelerator.prepare(model)


if __name__ == "__main__":
    local_rank = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local_rank)
    dist.init_process_group(backend="nccl")
    net = torch.nn.Linear(2, 2)
    state = torch.load("last.pt")  # want: load-without-map-location
    net.load_state_dict(state["net"])
    net = DDP(net.cuda(), device_ids=[local_rank])
