"""A language model with a recurrent net, its state carried on, clipping and a scheduler: events with and without the helper."""
import events
import torch
from torch import nn

events.begin()


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(3000, 128)
        self.lstm = nn.LSTM(128, 256, num_layers=2, dropout=0.2, batch_first=True)
        self.head = nn.Linear(256, 3000)

    def forward(self, ids, state):
        out, state = self.lstm(self.embed(ids), state)
        return self.head(out), tuple(s.detach() for s in state)


model, state = Model().cuda(), None
optimizer = torch.optim.Adam(model.parameters())
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)
for step in range(4):
    ids = torch.randint(0, 3000, (8, 32), device="cuda")
    logits, state = model(ids, state)
    loss = nn.functional.cross_entropy(logits.flatten(0, 1), ids.flatten())
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    scheduler.step()
    optimizer.zero_grad()
    loss.item()
events.end()
