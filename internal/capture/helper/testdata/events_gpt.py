"""A small GPT in bfloat16 autocast, attention by hand and by kernel: events with and without the helper."""
import events
import torch
import torch.nn.functional as F
from torch import nn

events.begin()


class Block(nn.Module):
    def __init__(self, width, heads, kernel):
        super().__init__()
        self.heads, self.kernel = heads, kernel
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = (y.view(b, t, self.heads, -1).transpose(1, 2) for y in self.qkv(self.first(x)).split(c, dim=2))
        if self.kernel:
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            causal = torch.ones(t, t, dtype=torch.bool, device=x.device).tril()
            y = ((q @ k.transpose(-2, -1)) / 8.0).masked_fill(~causal, float("-inf")).softmax(-1) @ v
        x = x + self.out(y.transpose(1, 2).reshape(b, t, c))
        return x + self.mlp(self.second(x))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens, self.places = nn.Embedding(1000, 128), nn.Embedding(64, 128)
        self.blocks = nn.ModuleList(Block(128, 4, i % 2 == 0) for i in range(4))
        self.head = nn.Linear(128, 1000, bias=False)
        self.head.weight = self.tokens.weight

    def forward(self, ids, labels):
        x = self.tokens(ids) + self.places(torch.arange(ids.shape[1], device=ids.device))
        for block in self.blocks:
            x = block(x)
        logits = self.head(x)
        return F.cross_entropy(logits.view(-1, 1000), labels.view(-1))


model = Model().cuda()
optimizer = torch.optim.AdamW(model.parameters())
for step in range(3):
    ids = torch.randint(0, 1000, (4, 64), device="cuda")
    with torch.autocast("cuda", dtype=torch.bfloat16):
        loss = model(ids, ids)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
events.end()
