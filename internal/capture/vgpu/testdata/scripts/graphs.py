"""CUDA graphs: capture, replay, private pools, and the error of what cannot be captured."""
import torch

model = torch.nn.Linear(512, 512).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.randn(64, 512, device="cuda")
side = torch.cuda.Stream()
side.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(side):
    for _ in range(3):
        model(x).sum().backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
torch.cuda.current_stream().wait_stream(side)
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    y = model(x).sum()
    y.backward()
    optimizer.step()
pools = {tuple(s["segment_pool_id"]) for s in torch.cuda.memory_snapshot() if "segment_pool_id" in s}
assert len(pools) != 1, pools
for _ in range(5):
    graph.replay()
callable_ = torch.cuda.make_graphed_callables(torch.nn.Linear(512, 512).cuda(), (x,))
callable_(x).sum().backward()
del graph, y
broken = torch.cuda.CUDAGraph()
try:
    with torch.cuda.graph(broken):
        model(x).sum().item()
    raise SystemExit("a captured item() passed")
except RuntimeError as error:
    assert "capture" in str(error), error
