def train(model, dl, opt, crit, log_every, debug=False):
    for step, (x, y) in enumerate(dl):
        loss = crit(model(x.cuda()), y.cuda())
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step == 0 or (step + 1) % log_every == 0:
            print(step, loss.item())
        if step < 3:
            print(loss)
