"""Small tensors have the values that the CPU would give them; large ones count as zeros."""
import warnings

import torch
import torch.nn.functional as F

warnings.simplefilter("ignore")
D = "cuda"


def same(name, make):
    torch.manual_seed(0)
    device, host = make(D), make("cpu")
    for a, b in zip(*(x if isinstance(x, (tuple, list)) else (x,) for x in (device, host))):
        if isinstance(b, torch.Tensor):
            assert a.shape == b.shape, (name, a.shape, b.shape)
            assert torch.allclose(a.cpu().double(), b.double(), rtol=1e-2, atol=1e-2), (name, a, b)
        else:
            assert a == b, (name, a, b)


def base(d):
    return torch.arange(24, device=d, dtype=torch.float32).reshape(4, 6)


def in_place(d):
    x = base(d)
    x[1] = 7
    x[:, 2] += 3
    x[x > 20] = -1
    x.mul_(2).clamp_(max=30)
    x.view(-1)[5].fill_(9)
    return x


def index_update(d):
    x = torch.zeros(5, 3, device=d)
    x.scatter_(1, torch.tensor([[0], [2], [1], [0], [2]], device=d), 1.0)
    x.index_add_(0, torch.tensor([0, 0], device=d), torch.ones(2, 3, device=d))
    return x


CASES = {
    "arange": lambda d: base(d),
    "full": lambda d: torch.full((3,), 2.5, device=d),
    "eye": lambda d: torch.eye(4, device=d),
    "tensor": lambda d: torch.tensor([[1, 2], [3, 4]], device=d),
    "like": lambda d: torch.ones_like(base(d)) + torch.full_like(base(d), 3),
    "new": lambda d: base(d).new_tensor([1, 2]) + base(d).new_ones(2),
    "to": lambda d: torch.ones(3).to(d),
    "cast": lambda d: base(d).half().float().long(),
    "sum": lambda d: base(d).sum().item(),
    "reduce": lambda d: [base(d).mean(0), base(d).max(1).values, base(d).argmax(-1), base(d).cumsum(0)],
    "topk": lambda d: list(torch.topk(base(d), 2)) + list(torch.sort(base(d), descending=True)),
    "softmax": lambda d: torch.softmax(base(d), -1),
    "compare": lambda d: [base(d) > 5, torch.isfinite(base(d)).all(), torch.isnan(base(d)).any(), (base(d) == 3).sum()],
    "logic": lambda d: ~(base(d) > 5) & (base(d) < 9) | (base(d) == 20),
    "where": lambda d: torch.where(base(d) > 5, base(d), -base(d)),
    "cat": lambda d: torch.cat([base(d), base(d)[:1]]),
    "stack": lambda d: torch.stack([base(d)[0], base(d)[1]], -1),
    "pad": lambda d: F.pad(base(d), (1, 2), value=4.0),
    "gather": lambda d: base(d).gather(1, torch.tensor([[0], [1], [2], [3]], device=d)),
    "one_hot": lambda d: F.one_hot(torch.tensor([0, 2, 1], device=d), 4),
    "mask": lambda d: base(d)[base(d) > 5],
    "masks": lambda d: base(d)[torch.tensor([True, False, True, False], device=d), 1:],
    "masked_select": lambda d: torch.masked_select(base(d), base(d) < 4),
    "nonzero": lambda d: [torch.nonzero(base(d) > 20), *torch.where(base(d) > 20), base(d).nonzero(as_tuple=True)[0]],
    "unique": lambda d: list(torch.unique(torch.tensor([3, 1, 1], device=d), return_counts=True)),
    "bincount": lambda d: torch.bincount(torch.tensor([0, 1, 1, 3], device=d)),
    "repeat_interleave": lambda d: torch.repeat_interleave(torch.tensor([5, 6], device=d), torch.tensor([2, 3], device=d)),
    "in_place": in_place,
    "index_update": index_update,
    "matmul": lambda d: base(d) @ base(d).t(),
    "linear": lambda d: F.linear(base(d), torch.ones(2, 6, device=d), torch.ones(2, device=d)),
    "embedding": lambda d: F.embedding(torch.tensor([1, 0], device=d), base(d)),
    "cross_entropy": lambda d: F.cross_entropy(base(d), torch.tensor([0, 1, 2, 3], device=d)),
    "equal": lambda d: [torch.equal(base(d), base(d)), torch.allclose(base(d), base(d) + 1), bool((base(d) >= 0).all())],
    "read": lambda d: [base(d).tolist(), float(base(d)[1, 1]), int(base(d)[2, 2]), base(d)[3].cpu().numpy().tolist()],
    "tril": lambda d: torch.tril(torch.ones(4, 4, device=d), -1),
    "einsum": lambda d: torch.einsum("ij,kj->ik", base(d), base(d)),
    "transposed": lambda d: base(d).t().contiguous().reshape(-1) + base(d).t().reshape(-1),
    "foreach": lambda d: torch._foreach_add([base(d), base(d)[0]], 2.0),
    "long mask": lambda d: [torch.ones(32, 1024, dtype=torch.long, device=d).all(), (torch.arange(32768, device=d) % 7 == 0).sum()],
    "copy": lambda d: torch.empty(2, 3, device=d).copy_(torch.ones(2, 3)),
    "clone": lambda d: base(d).clone().mul_(3) - base(d),
}
for name, make in CASES.items():
    same(name, make)

assert torch.randn(100, device=D).std() > 0.5
assert sorted(torch.randperm(50, device=D).tolist()) == list(range(50))
drawn = torch.multinomial(torch.softmax(torch.randn(4, 10, device=D), -1), 1)
assert drawn.shape == (4, 1) and bool((drawn >= 0).all())
torch.distributions.Categorical(logits=torch.randn(4, 10, device=D)).sample()
torch.distributions.Categorical(probs=torch.full((4, 10), 0.1, device=D)).entropy()
with torch.autocast(D, dtype=torch.float16):
    half = F.linear(torch.ones(2, 4, device=D), torch.ones(3, 4, device=D))
assert half.dtype == torch.float16 and half.tolist() == [[4.0] * 3] * 2

large = torch.randn(1000, 1000, device=D)
assert bool(torch.isfinite(large).all()) and not bool(torch.isnan(large).any())
assert bool((large == 0).all()) and large.sum().item() == 0 and large[3, 4].item() == 0
assert bool(torch.ones(3000, 3000, device=D).all()) and torch.full((2000, 2000), 2.0, device=D).mean().item() == 2
assert torch.equal(large, large.clone()) and large[0, :4].tolist() == [0.0] * 4
assert F.cross_entropy(large, torch.zeros(1000, dtype=torch.long, device=D)).item() == 0
assert large[large > 0].numel() == 0

# What an operator leaves in free memory is not taken for a value of the next.
layer = torch.nn.Linear(8, 4).to(D)
optimizer = torch.optim.AdamW(layer.parameters(), lr=0.1)
for _ in range(2):
    layer(torch.randn(2, 8, device=D)).pow(2).mean().backward()
    assert layer.weight.grad.abs().max() == 0
    before = layer.bias.clone()
    optimizer.step()
    assert (layer.bias - before).abs().max() < 0.1
    optimizer.zero_grad()
x = torch.full((100,), 5.0, device=D)
pointer = x.data_ptr()
del x
y = torch.empty(100, device=D)
assert y.data_ptr() == pointer and y.sum().item() == 0

scaler = torch.cuda.amp.GradScaler()
weight = torch.nn.Parameter(torch.ones(4000, 1000, device=D))
sgd = torch.optim.SGD([weight], lr=0.1)
scaler.scale((weight * 2).sum()).backward()
scaler.unscale_(sgd)
torch.nn.utils.clip_grad_norm_([weight], 1.0, error_if_nonfinite=True)
print("all values as on the CPU")
