import torch

device = "cuda"
checkpoint = torch.load("last.pt", map_location=device)
model.load_state_dict(checkpoint["model"])
optimizer = torch.optim.AdamW(model.parameters())
optimizer.load_state_dict(checkpoint["optimizer"])
start = checkpoint["step"]
checkpoint = None
for step in range(start, 1000):
    x, y = get_batch()
    loss = model(x, y)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
