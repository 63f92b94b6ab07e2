import torch


def build(backbone, head, rate):
    model = torch.nn.Sequential()
    model.backbone = backbone
    model.head = head
    model.backbone.requires_grad_(False)
    return model, torch.optim.Adagrad(model.head.parameters(), lr=rate)


def build_adam(model, rate):
    model.backbone.requires_grad_(False)
    return torch.optim.AdamW(model.parameters(), lr=rate)  # makes no state for what has no gradient
