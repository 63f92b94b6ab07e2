package lint

import (
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/pyast"
)

// canonical spells qualified names one way: a name under the left prefix is the
// same thing under the right one. Longer prefixes come first.
var canonical = []struct{ from, to string }{
	{"torch.utils.data.dataloader.", "torch.utils.data."},
	{"torch.utils.data.dataset.", "torch.utils.data."},
	{"torch.utils.data.distributed.", "torch.utils.data."},
	{"torch.nn.parallel.distributed.", "torch.nn.parallel."},
	{"torch.nn.parallel.data_parallel.", "torch.nn.parallel."},
	{"torch.nn.DataParallel", "torch.nn.parallel.DataParallel"},
	{"torch.cuda.amp.grad_scaler.", "torch.amp."},
	{"torch.cuda.amp.autocast_mode.", "torch.amp."},
	{"torch.cuda.amp.", "torch.amp."},
	{"torch.autocast", "torch.amp.autocast"},
	{"torch.autograd.no_grad", "torch.no_grad"},
	{"torch.autograd.grad_mode.", "torch."},
	{"torch.autograd.inference_mode", "torch.inference_mode"},
	{"torch.autograd.set_grad_enabled", "torch.set_grad_enabled"},
	{"torch.cuda.memory.", "torch.cuda."},
	{"torch.optim.lr_scheduler.", "torch.optim.lr_scheduler."},
	{"pytorch_lightning.", "lightning.pytorch."},
	{"lightning.LightningModule", "lightning.pytorch.LightningModule"},
	{"lightning.Trainer", "lightning.pytorch.Trainer"},
	{"lightning.Callback", "lightning.pytorch.Callback"},
	{"lightning.LightningDataModule", "lightning.pytorch.LightningDataModule"},
	{"lightning.Fabric", "lightning.fabric.Fabric"},
	{"lightning.pytorch.core.", "lightning.pytorch."},
	{"lightning_fabric.", "lightning.fabric."},
	{"tensorflow.compat.v1.", "tensorflow."},
	{"tensorflow.python.keras.", "tensorflow.keras."},
	{"tf_keras.", "tensorflow.keras."},
	{"keras.", "tensorflow.keras."},
	{"tqdm.auto.", "tqdm."}, {"tqdm.notebook.", "tqdm."}, {"tqdm.std.", "tqdm."}, {"tqdm.rich.", "tqdm."},
	{"transformers.trainer.", "transformers."},
	{"transformers.training_args.", "transformers."},
}

// nested are modules whose members PyTorch re-exports one level up.
var nested = []string{"torch.nn.modules.", "torch.optim."}

// Canonical is the one spelling of a qualified name.
func Canonical(q string) string {
	for _, c := range canonical {
		if strings.HasPrefix(q, c.from) {
			q = c.to + q[len(c.from):]
			break
		}
	}
	for _, n := range nested {
		rest, ok := strings.CutPrefix(q, n)
		if !ok {
			continue
		}
		if i := strings.LastIndexByte(rest, '.'); i > 0 && isLower(rest[:i]) && !strings.HasPrefix(rest, "lr_scheduler") {
			q = strings.TrimSuffix(strings.TrimSuffix(n, "modules."), ".") + "." + rest[i+1:]
		}
	}
	return q
}

func isLower(s string) bool { return s == strings.ToLower(s) }

// collectImports fills in which qualified name each imported name has, wherever
// in the file the import stands. Names of the project start with a dot.
func (f *File) collectImports() {
	f.Imports = map[string]string{}
	pyast.Walk(f.Module, func(n pyast.Node) bool {
		switch n := n.(type) {
		case pyast.Expr:
			return false
		case *pyast.Import:
			for _, a := range n.Names {
				if a.As != "" {
					f.Imports[a.As] = f.project.module(f, a.Name, 0)
				} else {
					top, _, _ := strings.Cut(a.Name, ".")
					f.Imports[top] = f.project.module(f, top, 0)
				}
				f.imported = append(f.imported, a.Name)
			}
		case *pyast.ImportFrom:
			from := f.project.module(f, n.Module, n.Level)
			f.imported = append(f.imported, from)
			for _, a := range n.Names {
				as := a.As
				if as == "" {
					as = a.Name
				}
				if a.Name == "*" {
					f.stars = append(f.stars, from)
				} else {
					f.Imports[as] = from + "." + a.Name
				}
			}
		}
		return true
	})
}

// Uses reports whether the file imports a package (by its first name, as
// "torch").
func (f *File) Uses(pkg string) bool {
	for _, m := range f.imported {
		if top, _, _ := strings.Cut(m, "."); top == pkg {
			return true
		}
	}
	return false
}

// Qual is the qualified name of what an expression names by imports, or "". An
// assignment of a qualified name to a name is followed by Value, not here.
func (f *File) Qual(e pyast.Expr) string {
	if q := f.qual(e); q != "" {
		return Canonical(q)
	}
	return ""
}

func (f *File) qual(e pyast.Expr) string {
	switch e := e.(type) {
	case *pyast.Name:
		if q := f.Imports[e.Ident]; q != "" {
			return q
		}
		if f.defined[e.Ident] {
			return f.Name + "." + e.Ident
		}
		for _, m := range f.stars {
			if q := f.project.starred(m, e.Ident); q != "" {
				return q
			}
		}
	case *pyast.Attribute:
		if q := f.qual(e.Value); q != "" {
			return q + "." + e.Attr
		}
	}
	return ""
}
