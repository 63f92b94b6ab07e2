import torch
import torch.utils.checkpoint as cp
from peft import LoraConfig, get_peft_model
from torch import nn
from torch.utils import checkpoint


class ByLoop(nn.Module):
    def __init__(self, vocab, width):
        super().__init__()
        self.tokens = nn.Embedding(vocab, width)
        self.first = nn.Linear(width, width)
        for parameter in self.tokens.parameters():
            parameter.requires_grad = False

    def forward(self, ids):
        h = self.tokens(ids)
        h = cp.checkpoint(self.first, h, use_reentrant=True)  # want: reentrant-checkpoint-frozen-input
        return h


class NoGrad(nn.Module):
    def __init__(self, stem, stages):
        super().__init__()
        self.stem, self.stages = stem, nn.ModuleList(stages)

    def forward(self, image):
        with torch.no_grad():
            x = self.stem(image)
        x = x.flatten(1)
        for stage in self.stages:
            x = checkpoint.checkpoint(stage, x, use_reentrant=True)  # want: reentrant-checkpoint-frozen-input
        return x


class Detached(nn.Module):
    def __init__(self, backbone, head):
        super().__init__()
        self.backbone, self.head = backbone, head

    def forward(self, x):
        features = self.backbone(x).detach()
        return cp.checkpoint_sequential(self.head, 2, features, use_reentrant=True)  # want: reentrant-checkpoint-frozen-input


class Pretrained(nn.Module):
    def __init__(self, weights, block):
        super().__init__()
        self.embed = nn.Embedding.from_pretrained(weights)
        self.block = block

    def forward(self, ids, mask=None):
        return cp.checkpoint(self.block, self.embed(ids), None, use_reentrant=True)  # want: reentrant-checkpoint-frozen-input


def train(model, loader, optimizer, criterion, device):
    for images, labels in loader:
        features = cp.checkpoint(model, images.to(device), use_reentrant=True)  # want: reentrant-checkpoint-frozen-input
        criterion(features, labels.to(device)).backward()
        optimizer.step()


def lora(model):
    model = get_peft_model(model, LoraConfig(r=8))
    model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": True})  # want: reentrant-checkpoint-frozen-input
    return model
