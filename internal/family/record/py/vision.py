"""torchvision's models: how they are built, their loss, and the extents that their images shrink to."""
import torch
from torch.utils._python_dispatch import TorchDispatchMode


def model_of(job):
    import torchvision
    from torchvision.models import regnet

    name = job["model"]
    if hasattr(torchvision.models, name):
        with right_widths(regnet.BlockParams):
            return getattr(torchvision.models, name)(weights=None)
    return getattr(torchvision.models.segmentation, name)(weights=None, weights_backbone=None)


class right_widths:
    """RegNets compute the widths of their blocks with tensors on the default device.

    The virtual GPU computes nothing, so that they are computed there for the
    allocations, and again on the CPU for the numbers.
    """

    def __init__(self, cls):
        self.cls = cls

    def __enter__(self):
        self.saved = made = self.cls.__dict__["from_init_params"]

        def widths(cls, *args, **kwargs):
            if torch.get_default_device().type == "cuda":
                made.__func__(cls, *args, **kwargs)
            dtype = torch.get_default_dtype()
            with torch.device("cpu"):
                torch.set_default_dtype(dtype)
                return made.__func__(cls, *args, **kwargs)

        self.cls.from_init_params = classmethod(widths)

    def __exit__(self, *_):
        self.cls.from_init_params = self.saved


# What the losses of auxiliary heads count for; their papers' weights.
AUXILIARY = {"GoogLeNetOutputs": 0.3, "InceptionOutputs": 0.4}


def forward(model, data):
    """The output, which holds the loss as those of language models do: a scaled loss
    does not take its place, as it does not in `scaler.scale(loss).backward()`."""
    out = model(data[0])
    out = out["out"] if isinstance(out, dict) else out
    entropy = torch.nn.functional.cross_entropy
    if torch.is_tensor(out):
        loss = entropy(out, data[1])
    else:
        weight = AUXILIARY[type(out).__name__]
        loss = entropy(out[0], data[1]) + weight * sum(entropy(o, data[1]) for o in out[1:])
    return (out, loss), loss


class Extents(TorchDispatchMode):
    """Follows the height and width of an image through convolutions and pooling.

    Each is floor((H + a) / q); known has (a, q) of each pair of height and
    width, which are so large that no two pairs are the same by chance.
    convolutions are inputs, weights and outputs as [channels, a, q].
    """

    def __init__(self, height, width):
        super().__init__()
        self.known = {(height, width): (0, 1)}
        self.convolutions = []
        self.largest = 0  # bytes of a tensor of the two images

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        name = func.overloadpacket.__name__
        if torch.is_tensor(out) and out.dim() > 1 and out.shape[0] == 2:
            self.largest = max(self.largest, out.numel() * out.element_size())
        if name == "convolution":
            self.convolution(args, out)
        elif name in ("max_pool2d_with_indices", "avg_pool2d"):
            options = dict(zip(("kernel", "stride", "padding", *(["dilation"] if name.startswith("max") else []), "ceil"), args[1:6]))
            self.follow(args[0], out[0] if isinstance(out, (tuple, list)) else out, **options)
        return out

    def convolution(self, args, out):
        x, weight, _, stride, padding, dilation = args[:6]
        self.follow(x, out, weight.shape[2:], stride, padding, dilation)
        before, after = self.known.get(tuple(x.shape[2:])), self.known.get(tuple(out.shape[2:]))
        if before and after:
            self.convolutions.append([x.shape[1], *before, weight.numel(), out.shape[1], *after])

    def follow(self, x, out, kernel, stride=(), padding=0, dilation=1, ceil=False):
        known = self.known.get(tuple(x.shape[2:]))
        if known is None or tuple(out.shape[2:]) in self.known:
            return
        kernel, stride, padding, dilation = (pair(v) for v in (kernel, stride or kernel, padding, dilation))
        taken = [dilation[i] * (kernel[i] - 1) - 2 * padding[i] for i in (0, 1)]
        if taken[0] != taken[1] or stride[0] != stride[1]:
            return
        a, q = known
        more = stride[0] - 1 if ceil else 0
        self.known[tuple(out.shape[2:])] = (a + q * (stride[0] - 1 - taken[0] + more), q * stride[0])

    def windows(self, size):
        """Adds a Swin's windows, and what is left of an image where patches are merged."""
        a, q = list(self.known.values())[-1]
        for _ in range(4):
            self.known[("merged", a, q)] = (a, q)
            self.known[("windows", a, q)] = (a + (size - 1) * q, size * q)
            a, q = a + q, 2 * q


def pair(v):
    v = list(v) if isinstance(v, (tuple, list)) else [v, v]
    return v if len(v) == 2 else [v[0], v[0]]


def notes(model, job):
    """The extents and convolutions of a model on the meta device."""
    if not job.get("extents"):
        return {}
    fixed = getattr(model, "image_size", None)
    if fixed is not None or job["model"].startswith("maxvit"):
        follow = followed(model, job["dims"]["H"], job["dims"]["W"])
    else:
        follow = followed(model, 32 * 7 * 29 + 19, 32 * 7 * 23 + 13)
    if job["model"].startswith("swin"):
        follow.windows(model.features[1][0].attn.window_size[0])
    return {"extents": sorted(set(follow.known.values()), key=lambda e: e[::-1]), "convolutions": follow.convolutions}


def followed(model, height, width):
    follow = Extents(height, width)
    with torch.device("meta"), torch.no_grad(), follow:
        model.train()(torch.zeros(2, 3, height, width, dtype=torch.get_default_dtype()))
    return follow


def fill(model, job):
    """Sets the batch of a job so that its largest tensor has the bytes that it asks for."""
    dims = job["dims"]
    each = followed(model, dims["H"], dims["W"]).largest // (4 if job["precision"].startswith("amp") else 2)
    job["dims"] = {**dims, "B": min(max(2, job["fill"] // each), job.get("most", 1 << 30))}
    return {"job": job}
