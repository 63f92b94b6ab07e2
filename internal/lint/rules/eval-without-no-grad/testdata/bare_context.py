import torch


def test(args, model, device, test_loader):
    model.eval()
    test_loss = 0
    correct = 0
    torch.no_grad()
    for data, target in test_loader:
        data, target = data.to(device), target.to(device)
        output = model(data)  # want: eval-without-no-grad
        test_loss += torch.nn.functional.nll_loss(output, target, reduction="sum").item()
        pred = output.argmax(dim=1, keepdim=True)
        correct += pred.eq(target.view_as(pred)).sum().item()
    print(test_loss, correct)
