import torch
import torch.distributed as dist


def positional(model, path):
    model.load_state_dict(torch.load(path, "cpu"))


def variable(model, path, where, **options):
    model.load_state_dict(torch.load(path, map_location=where))
    model.load_state_dict(torch.load(path, **options))


def data(path):
    dist.barrier()
    samples = torch.load(path)
    return torch.utils.data.TensorDataset(*samples)


def first(model, path):
    if dist.get_rank() == 0:
        model.load_state_dict(torch.load(path))


def built(model, path):
    how = {}
    how["map_location"] = "cpu"
    model.load_state_dict(torch.load(path, **how))
