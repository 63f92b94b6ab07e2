import torch


@torch.no_grad()
def embed(net, dl):
    out = []
    for x in dl:
        out.append(net(x.cuda()))
    return torch.cat(out)


def embed_all(net, dl):
    net.eval()
    vectors = []
    for x, _ in dl:
        vectors.append(net(x.cuda()))  # want: grad-tensor-appended
    return vectors
