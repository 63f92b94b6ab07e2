"""The training loop that is recorded; it is the one of any training script."""
import ctypes

import torch

import adapt
import batch
import build
import infer
import nf4
import shard
import unpadded
import vision
from marks import Layers


def run(row, job, marks):
    read_zeros()
    if job.get("unpadded"):
        unpadded.patch()
    torch.set_default_dtype(build.dtype_of(job["precision"]))
    with torch.device("meta"):
        shape = build.model_of(row, job)
    notes = vision.fill(shape, job) if job.get("fill") else vision.notes(shape, job) if job.get("extents") else {}
    marks.enter("load", "begin")
    if job.get("shard") == "fsdp2":
        model = shard.model(row, job, shape, marks)
    elif job.get("quantize") == "nf4":
        model = nf4.model(row, job, shape, marks)
    else:
        with torch.device("cuda"), build.mark_construction(marks, build.stacks_of(row, shape, job)):
            model = build.model_of(row, job)
    marks.part("end")
    del shape
    if job["mode"] != "infer" and hasattr(model, "config"):
        model.config.use_cache = False  # as loops that train or evaluate do
    model.train(job["mode"] != "infer")
    if job.get("channels_last"):
        model = model.to(memory_format=torch.channels_last)
    if job.get("checkpoint") == "full":
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    if job.get("lora"):
        model = adapt.adapt(model, job, build.stacks_of(row, model, job), marks)
    layers = Layers(marks, build.stacks_of(row, unwrapped(model), job))
    places = {"parameters": place(model.named_parameters()), "buffers": place(model.named_buffers())}
    places["at"] = marks_end(marks)
    params = [p for p in model.parameters() if p.requires_grad]
    loop = {"train": train, "eval": evaluate, "infer": infer.run}[job["mode"]]
    places["gradients"] = loop(row, job, model, params, layers, marks)
    return {
        "places": places,
        "kinds": {name: kinds for name, _, _, kinds in build.stacks_of(row, unwrapped(model), job)},
        "attention": getattr(getattr(model, "config", None), "_attn_implementation", None),
        "job": job,
        **notes,
    }


def read_zeros():
    """What PyTorch reads of the virtual GPU is 0, whatever was there before."""
    torch.cuda.init()
    if ctypes.CDLL(None).plimsoll_vgpu_watch_allocator():
        raise RuntimeError("the virtual GPU does not watch PyTorch's allocator")


def marks_end(marks):
    marks.enter("load", "ready")
    return marks.list[-1][0]


def place(named):
    """Name, shape, type, address and whether it is trained; of a sharded one the part that this process has."""
    found = [(n, local(t), t.requires_grad) for n, t in named]
    return [[n, list(t.shape), str(t.dtype)[6:], t.data_ptr(), trained] for n, t, trained in found]


def local(tensor):
    return getattr(tensor, "_local_tensor", tensor)


def unwrapped(model):
    return model.get_base_model() if hasattr(model, "get_base_model") else model


def autocast_of(job):
    """The type of autocast; FSDP2 has a policy in place of it."""
    if job.get("shard") == "fsdp2":
        return None
    return {"amp-bf16": torch.bfloat16, "amp-fp16": torch.float16}.get(job["precision"])


def train(row, job, model, params, layers, marks):
    """Three steps, of one, one and two micro-batches; returns where gradients are."""
    amp = autocast_of(job)
    scaler = torch.amp.GradScaler("cuda") if job["precision"] == "amp-fp16" else None
    gradients = {}
    for micros in (["first"], ["steady"], ["steady2", "accumulate"]):
        for scope in micros:
            marks.enter(scope, "batch")
            data = batch.of(row, job)
            layers.begin()
            marks.part("forward")
            ctx = torch.autocast("cuda", dtype=amp) if amp else torch.autocast("cuda", enabled=False)
            with ctx:
                out, loss = forward(model, data)
            marks.part("loss")
            if scaler:
                loss = scaler.scale(loss)
            layers.backward = True
            marks.part("backward")
            loss.backward()
            marks.part("drop")
            del out, loss, data
            marks.part("end")
            gradients[scope] = {"at": marks.list[-1][0], "addresses": [local(p.grad).data_ptr() if p.grad is not None else 0 for p in params]}
        marks.enter("zero", "grads")
        for p in params:
            p.grad = None
    marks.enter("end", "end")
    return gradients


def evaluate(row, job, model, params, layers, marks):
    amp = autocast_of(job)
    for scope in ("first", "steady"):
        marks.enter(scope, "batch")
        data = batch.of(row, job)
        layers.begin()
        marks.part("forward")
        ctx = torch.autocast("cuda", dtype=amp) if amp else torch.autocast("cuda", enabled=False)
        with ctx, torch.no_grad():
            out, loss = forward(model, data)
        marks.part("drop")
        del out, loss, data
        marks.part("end")
    marks.enter("end", "end")
    return {}


def forward(model, data):
    if isinstance(data, dict):
        out = model(**data)
        return out, out.loss
    return vision.forward(model, data)
