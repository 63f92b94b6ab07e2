import os

import torch
from os import environ


def configure():
    os.environ.setdefault("PYTORCH_CUDA_ALLOC_CONF", "max_split_size_mb:128")  # want: alloc-conf-after-cuda


def late(model):
    model = model.to("cuda")
    environ["PYTORCH_ALLOC_CONF"] = "expandable_segments:True"  # want: alloc-conf-after-cuda
    return model


def update(model):
    model.cuda()
    os.environ.update({"PYTORCH_CUDA_ALLOC_CONF": "backend:cudaMallocAsync"})  # want: alloc-conf-after-cuda


class Runner:
    def __init__(self, net):
        self.net = net.cuda()
        self.tune()

    def tune(self):
        os.environ["PYTORCH_CUDA_ALLOC_CONF"] = "expandable_segments:True"  # want: alloc-conf-after-cuda


def main():
    torch.cuda.init()
    configure()


if __name__ == "__main__":
    main()
