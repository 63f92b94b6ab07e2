"""Faster R-CNN: boxes kept by non-maximum suppression depend on values, so the answer is a lower bound."""
import torch
import torchvision

model = torchvision.models.detection.fasterrcnn_resnet50_fpn(weights=None, weights_backbone=None, num_classes=5).cuda().train()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
for step in range(6):
    images = [torch.rand(3, 320, 480, device="cuda") for _ in range(2)]
    targets = [{"boxes": torch.tensor([[10.0, 20.0, 200.0, 220.0]], device="cuda"),
                "labels": torch.tensor([1], device="cuda")} for _ in images]
    loss = sum(model(images, targets).values())
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    print(step, float(loss))
