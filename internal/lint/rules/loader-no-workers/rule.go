// Package loadernoworkers finds loaders that prepare samples in the training
// process.
package loadernoworkers

import (
	_ "embed"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/lint"
	"github.com/plimsoll-dev/plimsoll/internal/pyast"
)

var (
	//go:embed bad.py
	bad string
	//go:embed good.py
	good string
)

// Rule is GPU107.
var Rule = &lint.Rule{
	Code:     "GPU107",
	Name:     "loader-no-workers",
	Severity: lint.Warning,
	Title:    "A DataLoader decodes samples in the training process",
	Why:      "without num_workers each batch is read and decoded between two steps, and the GPU waits for it",
	Cost:     "the whole load time of a batch, each step: decoding one 224x224 JPEG takes some 5 ms of a CPU core, a batch of 128 half a second",
	Misses: "loaders of datasets that are not known to read or decode anything; " +
		"in-memory datasets, loaders with **options, and loaders whose worker count is a variable are left alone",
	Fix: lint.UnsafeFix,
	References: []string{"runa91/barc_release#9", "NVIDIA-NeMo/Speech#1204",
		"https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html"},
	Bad:  bad,
	Good: good,
	Run:  run,
}

func run(p *lint.Pass) {
	p.CallsOf(func(c *pyast.Call) {
		options, all := p.Options(c)
		workers := c.Arg(5, "num_workers")
		if workers == nil {
			workers = options["num_workers"]
		}
		if !all || workers != nil && !zero(p, workers) {
			return
		}
		dataset := c.Arg(0, "dataset")
		if dataset == nil || p.InTest(c) {
			return
		}
		if why := decodes(p, p.DatasetClass(dataset)); why != "" {
			p.Report(c, "this DataLoader has no workers, and its dataset "+why,
				lint.Unsafely("load in 4 worker processes", p.SetArg(c, "num_workers", "4")))
		}
	}, "torch.utils.data.DataLoader")
}

func zero(p *lint.Pass, e pyast.Expr) bool {
	k := p.Const(e)
	return k != nil && k.Text == "0"
}

// inMemory are datasets of torchvision that hold decoded arrays.
var inMemory = map[string]bool{"MNIST": true, "FashionMNIST": true, "KMNIST": true, "EMNIST": true, "QMNIST": true, "FakeData": true, "USPS": true}

// arrays are datasets that hold small images and make each one a picture again.
var arrays = map[string]bool{"CIFAR10": true, "CIFAR100": true, "SVHN": true, "STL10": true}

// decodes says what a dataset does for each sample that takes the CPU long, or
// "" where that is not known.
func decodes(p *lint.Pass, class string) string {
	if name, ok := strings.CutPrefix(class, "torchvision.datasets."); ok && !inMemory[name] {
		if arrays[name] {
			return "transforms images one by one"
		}
		return "reads images"
	}
	return p.LoadDecodes(class)
}
