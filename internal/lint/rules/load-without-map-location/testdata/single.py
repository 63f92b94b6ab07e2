import torch


def build(model, path):
    model.load_state_dict(torch.load(path))
    return model.cuda()
