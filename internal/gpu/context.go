package gpu

import "github.com/plimsoll-dev/plimsoll/unit"

// contexts is what a process takes on a card beside PyTorch's allocator, by
// architecture: the CUDA context, handles of libraries and loaded kernels. The
// table assumes that modules are loaded when first used, as PyTorch asks since
// 1.13 and CUDA does by itself since 12.2; before, add 400 to 700 MiB.
var contexts = map[string]Interval{
	"Kepler":          context(100, 200, 350, usualContext),
	"Pascal":          context(130, 200, 450, usualContext),
	"Volta":           context(250, 300, 500, voltaContext),
	"Turing":          context(100, 200, 450, usualContext),
	"Ampere":          context(250, 450, 700, ampereContext),
	"Ada":             context(300, 426, 700, adaContext),
	"Hopper":          context(450, 550, 900, usualContext),
	"Blackwell":       context(450, 650, 1000, usualContext),
	"Blackwell Ultra": context(500, 700, 1100, usualContext),
}

var (
	voltaContext = Source{
		ID: "pytorch-20532", Title: "V100, PyTorch 1.1: 300 to 400 MB before the first tensor",
		Where: "https://github.com/pytorch/pytorch/issues/20532",
	}
	ampereContext = Source{
		ID: "pytorch-86509", Title: "PyTorch 1.13 with CUDA 11.7: 287,047,680 B at the first tensor, 666,632,192 B with eager loading; kernels loaded later come on top",
		Where: "https://github.com/pytorch/pytorch/issues/86509",
	}
	adaContext = Source{
		ID: "unsloth-zoo-1053", Title: "RTX 6000 Ada, PyTorch 2.10 with CUDA 13: 426 MiB by cudaMemGetInfo",
		Where: "https://github.com/unslothai/unsloth-zoo/issues/1053",
	}
	usualContext = Source{
		ID: "usual-context", Title: "not measured: as cards of its age and size usually show, with room on both sides",
		Derived: true,
	}
)

func contextOf(arch string) Interval { return contexts[arch] }

// context builds an interval of MiB.
func context(low, typical, high int, s Source) Interval {
	return Interval{unit.Bytes(low) * unit.MiB, unit.Bytes(typical) * unit.MiB, unit.Bytes(high) * unit.MiB, s}
}
