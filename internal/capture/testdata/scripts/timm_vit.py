"""A timm vision transformer in channels-last under bf16 autocast."""
import timm
import torch

model = timm.create_model("vit_small_patch16_224", pretrained=False, num_classes=100).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
criterion = torch.nn.CrossEntropyLoss(label_smoothing=0.1)
for step in range(10):
    images = torch.randn(16, 3, 224, 224, device="cuda")
    labels = torch.randint(0, 100, (16,), device="cuda")
    with torch.autocast("cuda", dtype=torch.bfloat16):
        loss = criterion(model(images), labels)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    print(step, loss.item())
