import torch

from model import build

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = build().to(device)
optimizer = torch.optim.AdamW(model.parameters())
loader = torch.utils.data.DataLoader([1, 2])
checkpoint = torch.load("last.pt", map_location=device)  # want: resume-checkpoint-kept
model.load_state_dict(checkpoint["model"])
optimizer.load_state_dict(checkpoint["optimizer"])
for epoch in range(10):
    for batch in loader:
        loss = model(batch.to(device)).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
