import torch

from engine import evaluate, quiet


def main(model, loader, criterion):
    evaluate(model, loader, criterion)
    with torch.no_grad():
        quiet(model, loader, criterion)
