"""The batch of a job, made on the device as a loop's collate function would leave it."""
import torch


def of(row, job):
    if row["library"] == "torchvision":
        return pixels(job, job["dims"])
    return globals()[row["batch"].replace("-", "_")](job, job["dims"])


def ids(*shape):
    return torch.zeros(*shape, dtype=torch.long, device="cuda")


def floats(job, *shape):
    return torch.zeros(*shape, dtype=torch.get_default_dtype(), device="cuda")


def text(job, d):
    x = ids(d["B"], d["S"])
    if job["task"] == "sequence-classification":
        mask = {} if job.get("unpadded") else {"attention_mask": torch.ones_like(x)}
        return dict(input_ids=x, labels=ids(d["B"]), **mask)
    return dict(input_ids=x, labels=x.clone())


seq2seq = text_mask = text


def image(job, d):
    return dict(pixel_values=floats(job, d["B"], 3, d["H"], d["H"]), labels=ids(d["B"]))


def speech(job, d):
    return dict(input_features=floats(job, d["B"], d["M"], 2 * d["P"]), labels=ids(d["B"], d["S"]))


def clip(job, d):
    x = ids(d["B"], d["S"])
    return dict(input_ids=x, attention_mask=torch.ones_like(x), pixel_values=floats(job, d["B"], 3, d["H"], d["H"]), return_loss=True)


def pixels(job, d):
    dtype = torch.bfloat16 if job["precision"] == "bf16" else torch.float32
    x = torch.zeros(d["B"], 3, d["H"], d["W"], device="cuda", dtype=dtype)
    if job.get("channels_last"):
        x = x.contiguous(memory_format=torch.channels_last)
    if job["task"] == "semantic-segmentation":
        return x, ids(d["B"], d["H"], d["W"])
    return x, ids(d["B"])
