class T:
    def training_step(self, x):
        self.opt.zero_grad(False)  # want: zero-grad-set-to-none-false
        self.model(x).mean().backward()
        self.opt.step()

    def run(self, loader):
        for x in loader:
            self.training_step(x.cuda())
