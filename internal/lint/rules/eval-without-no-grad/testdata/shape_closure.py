import torch


def make_validator(net, dl, metric):
    def validate():
        net.eval()
        scores = []
        for x, y in dl:
            y_hat = net(x.cuda())  # want: eval-without-no-grad
            scores.append(metric(y_hat, y.cuda()).item())
        net.train()
        return sum(scores) / len(scores)

    return validate


def make_right(net, dl, metric):
    @torch.no_grad()
    def validate():
        net.eval()
        return sum(metric(net(x.cuda()), y.cuda()).item() for x, y in dl)

    return validate
