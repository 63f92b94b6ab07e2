import torch
import torch.nn.functional as F


def distill(teacher, student, dl, opt):
    teacher.eval()
    for x, _ in dl:
        x = x.cuda()
        soft = teacher(x).detach()  # want: frozen-module-in-graph
        loss = F.kl_div(student(x).log_softmax(-1), soft.softmax(-1))
        opt.zero_grad()
        loss.backward()
        opt.step()


def distill_right(teacher, student, dl, opt):
    teacher.eval()
    for x, _ in dl:
        x = x.cuda()
        with torch.no_grad():
            soft = teacher(x)
        loss = F.kl_div(student(x).log_softmax(-1), soft.softmax(-1))
        opt.zero_grad()
        loss.backward()
        opt.step()
