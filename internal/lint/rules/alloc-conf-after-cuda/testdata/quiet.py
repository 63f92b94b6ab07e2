import os

import torch

os.environ.setdefault("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True")
count = torch.cuda.device_count()
print(torch.__version__, torch.cuda.is_available())


def configure():
    os.environ["PYTORCH_CUDA_ALLOC_CONF"] = "expandable_segments:True"


def train(model):
    configure()
    model.cuda()
    os.environ["TOKENIZERS_PARALLELISM"] = "false"


def on_cpu(model, batch):
    batch = torch.zeros(3, device="cpu")
    model.to("cpu")
    os.environ["PYTORCH_CUDA_ALLOC_CONF"] = "expandable_segments:True"


def either(model, small):
    if small:
        model.cuda()
    else:
        os.environ["PYTORCH_CUDA_ALLOC_CONF"] = "expandable_segments:True"
        model.cuda()


if __name__ == "__main__":
    train(torch.nn.Linear(2, 2))
