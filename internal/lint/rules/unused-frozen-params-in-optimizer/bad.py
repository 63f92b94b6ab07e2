import torch


def build(backbone, head, rate):
    model = torch.nn.Sequential()
    model.backbone = backbone
    model.head = head
    model.backbone.requires_grad_(False)
    return model, torch.optim.Adagrad(model.parameters(), lr=rate)  # want: unused-frozen-params-in-optimizer
