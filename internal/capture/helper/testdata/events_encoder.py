"""An encoder with both kinds of checkpointing, and its fast path in evaluation: events with and without the helper."""
import events
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

events.begin()
layers = nn.TransformerEncoder(nn.TransformerEncoderLayer(64, 4, 128, batch_first=True), 3).cuda()
embedding, head = nn.Embedding(100, 64).cuda(), nn.Linear(64, 10).cuda()
optimizer = torch.optim.Adam([*layers.parameters(), *embedding.parameters(), *head.parameters()], foreach=False)
for step in range(4):
    ids = torch.randint(0, 100, (16, 40), device="cuda")
    mask = torch.zeros(16, 40, dtype=torch.bool, device="cuda")
    mask[:, 30:] = True
    x = embedding(ids)
    for layer in layers.layers:
        x = checkpoint(layer, x, None, mask, use_reentrant=step % 2 == 0)
    loss = F.cross_entropy(head(x.mean(1)), torch.randint(0, 10, (16,), device="cuda"))
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    layers.eval()
    with torch.no_grad():
        head(layers(embedding(ids), src_key_padding_mask=mask).mean(1)).softmax(-1).topk(3)
    layers.train()
events.end()
