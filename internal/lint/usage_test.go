package lint

import (
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/pyast"
)

// TestOnDevice reads what a step computes: the GPU's where the function or a
// framework says so, and nothing of a script that stays on the CPU.
func TestOnDevice(t *testing.T) {
	const src = `
import torch

def gpu(model, loader, criterion, optimizer, device):
    for x, y in loader:
        loss = criterion(model(x.to(device)), y.to(device))
        loss.backward()
        see(loss, True)

def cpu(model, loader, criterion, optimizer):
    for x, y in loader:
        loss = criterion(model(x), y)
        loss.backward()
        see(loss, False)
`
	seen := 0
	rule := &Rule{Code: "GPU000", Name: "see", Run: func(p *Pass) {
		p.Calls(func(c *pyast.Call) {
			if pyast.Path(c.Func) != "see" {
				return
			}
			seen++
			if got := p.OnDevice(c.Args[0]); got != IsTrue(c.Args[1]) {
				t.Errorf("%s: on the GPU: %t", p.Text(c), got)
			}
		})
	}}
	if _, err := Check([]*Rule{rule}, Source{Path: "a.py", Text: []byte(src)}); err != nil || seen != 2 {
		t.Error(seen, err)
	}
}

// TestCalleeFacts follows calls into methods and other files.
func TestCalleeFacts(t *testing.T) {
	files := []Source{
		{Path: "lib.py", Text: []byte("def evaluate(model, loader):\n    for x in loader:\n        model(x)\n\ndef other(x):\n    return x\n")},
		{Path: "main.py", Text: []byte("from lib import evaluate, other\n\nclass A:\n    def check(self, model, loader):\n        for x in loader:\n            model(x)\n" +
			"\n    def run(self, model, loader):\n        self.check(model, loader)\n        evaluate(model, loader)\n        other(loader)\n        print(loader)\n")},
	}
	want := map[string]bool{"self.check": true, "evaluate": true, "other": false, "print": false}
	rule := &Rule{Code: "GPU000", Name: "see", Run: func(p *Pass) {
		p.Calls(func(c *pyast.Call) {
			name := pyast.Path(c.Func)
			if reads, ok := want[name]; ok {
				facts := p.CalleeFacts(c)
				if got := facts != nil && facts.ReadsData(); got != reads {
					t.Errorf("%s: reads data: %t", name, got)
				}
				delete(want, name)
			}
		})
	}}
	if _, err := Check([]*Rule{rule}, files...); err != nil || len(want) > 0 {
		t.Error(want, err)
	}
}

// TestEachStep reads conditions: "if step % n: continue" is every n-th step, also
// under a name; and a function that makes its optimizer is no step.
func TestEachStep(t *testing.T) {
	const src = `
import torch

def train(model, loader, optimizer):
    for step, x in enumerate(loader):
        model(x).loss.backward()
        optimizer.step()
        if step % 5:
            see(True)
        if not step % 5:
            see(False)
        now = step % 5 == 0
        final_step = step == 99
        if now or final_step:
            see(False)
        if not now and model.training:
            see(True)
        if step % 100 == 0:
            for task in ("a", "b"):
                judge(task)
        for part in range(2):
            again(part)
        if step % 5:
            continue
        see(False)

def judge(task):
    see(False)

def again(part):
    see(True)

def run(args):
    model = torch.nn.Linear(2, 2)
    opt = torch.optim.SGD(model.parameters(), 0.1)
    see(False)
    model(args.x).sum().backward()

def prepare(x, y, tool=None, other=None):
    if tool is not None:
        work(x)
    if other is not None:
        play(x)

def work(x):
    see(False)

def play(x):
    see(True)

def one(model, x):
    prepare(x, x, tool=None, other=x)
    see(True)
    model(x).sum().backward()
`
	rule := &Rule{Code: "GPU000", Name: "see", Run: func(p *Pass) {
		p.Calls(func(c *pyast.Call) {
			if pyast.Path(c.Func) == "see" && p.EachStep(c) != IsTrue(c.Args[0]) {
				line, _ := p.Module.Position(c.Span().Start)
				t.Errorf("line %d: each step: %t", line, p.EachStep(c))
			}
		})
	}}
	if _, err := Check([]*Rule{rule}, Source{Path: "a.py", Text: []byte(src)}); err != nil {
		t.Error(err)
	}
}

// TestEachStepBehindChecks reads guards that hold in every good step, and
// conditions that move on when they hold.
func TestEachStepBehindChecks(t *testing.T) {
	const src = `
import torch

def train(model, loader, criterion, optimizer, device):
    due = 100
    for i, (x, y) in enumerate(loader):
        loss = criterion(model(x.to(device)), y.to(device))
        if torch.isnan(loss):
            raise RuntimeError("not a number")
        if not torch.isfinite(loss):
            continue
        loss.backward()
        optimizer.step()
        see(loss, True)
        if i >= due:
            see(loss, False)
            due += 100
`
	seen := 0
	rule := &Rule{Code: "GPU000", Name: "see", Run: func(p *Pass) {
		p.Calls(func(c *pyast.Call) {
			if pyast.Path(c.Func) != "see" {
				return
			}
			seen++
			if got := p.EachStep(c); got != IsTrue(c.Args[1]) {
				t.Errorf("%s: each step: %t", p.Text(c), got)
			}
		})
	}}
	if _, err := Check([]*Rule{rule}, Source{Path: "a.py", Text: []byte(src)}); err != nil || seen != 2 {
		t.Error(seen, err)
	}
}
