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


def own(model, rank, folder):
    path = f"{folder}/model_rank{rank}.pt"
    model.load_state_dict(torch.load(path))


def scales(rank, scaler, scheduler):
    state = torch.load("scaler.pt")
    scaler.load_state_dict(state)
    scheduler.load_state_dict(torch.load("scheduler.pt"))


def worker(rank, model):
    torch.cuda.set_device(rank)
    torch.save(model.state_dict(), "final.pt")


def launch(model):
    torch.multiprocessing.spawn(worker, args=(model,), nprocs=2)
    compare(model)
    model.load_state_dict(torch.load("final.pt"))


def compare(model):
    model.load_state_dict(torch.load("final.pt"))
