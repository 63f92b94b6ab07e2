"""An LSTM language model with packed state, trained by cuDNN's recurrent layers."""
import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = torch.nn.Embedding(5000, 256)
        self.lstm = torch.nn.LSTM(256, 512, num_layers=2, dropout=0.2, batch_first=True)
        self.head = torch.nn.Linear(512, 5000)

    def forward(self, ids, state):
        out, state = self.lstm(self.embed(ids), state)
        return self.head(out), tuple(s.detach() for s in state)


model, state = Model().cuda(), None
optimizer = torch.optim.Adam(model.parameters())
for step in range(10):
    ids = torch.randint(0, 5000, (16, 64), device="cuda")
    logits, state = model(ids, state)
    loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), ids.flatten())
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad()
    print(step, loss.item())
