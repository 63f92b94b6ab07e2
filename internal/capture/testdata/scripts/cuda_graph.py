"""A whole training step captured in a CUDA graph and replayed."""
import torch

model = torch.nn.Sequential(torch.nn.Linear(1024, 1024), torch.nn.ReLU(), torch.nn.Linear(1024, 1024)).cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, capturable=True)
static = torch.randn(64, 1024, device="cuda")


def step():
    optimizer.zero_grad(set_to_none=True)
    loss = model(static).pow(2).mean()
    loss.backward()
    optimizer.step()
    return loss


side = torch.cuda.Stream()
side.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(side):
    for _ in range(2):
        step()
torch.cuda.current_stream().wait_stream(side)
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    loss = step()
for i in range(5):
    static.copy_(torch.randn(64, 1024, device="cuda"))
    graph.replay()
    print(i, loss.item())
