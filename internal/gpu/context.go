package gpu

import "github.com/plimsoll-dev/plimsoll/unit"

// contexts is what a process takes on a card beside PyTorch's allocator, by
// compute capability: the CUDA context, handles of libraries and the kernels
// loaded so far. Most are differences in out-of-memory texts: what the process
// has in use, less what PyTorch says it holds.
//
// The table assumes that kernels are loaded when first used, as PyTorch asks
// since 1.13 and CUDA does by itself since 12.2; loading all of them at once
// adds 400 to 700 MiB (pytorch/pytorch#86509).
var contexts = map[int]Interval{
	37: context(100, 200, 700, usualContext),
	60: context(200, 400, 820, Source{
		ID:    "context-pascal",
		Title: "Tesla P100: 577 MiB of a bare process and 818 MiB beside a training one, pytorch/pytorch#99699",
		Where: "https://github.com/pytorch/pytorch/pull/99699",
	}),
	61: context(130, 200, 500, usualContext),
	70: context(280, 350, 820, Source{
		ID:    "context-volta",
		Title: "TITAN V: 320 MiB before PyTorch (pytorch/pytorch#28394); V100: 300 to 400 MB (pytorch/pytorch#20532)",
		Where: "https://github.com/pytorch/pytorch/issues/20532",
	}),
	75: context(110, 165, 450, Source{
		ID:    "context-turing",
		Title: "T4: 128 and 135 MiB (facebookresearch/tribev2#28, Zheng-Chong/CatVTON#133); RTX 2080 Ti: 197 MiB (lllyasviel/FramePack#369)",
		Where: "https://github.com/facebookresearch/tribev2/issues/28",
	}),
	80: context(380, 480, 900, Source{
		ID:    "context-a100",
		Title: "A100 40GB: 501 MiB (TianheWu/CoSeR#10)",
		Where: "https://github.com/TianheWu/CoSeR/issues/10",
	}),
	86: context(200, 250, 600, Source{
		ID:    "context-ga10x",
		Title: "RTX 3090: 224 MiB (XChenZ/havatar#6); RTX 3080: 257 MiB (bcmi/libcom#54)",
		Where: "https://github.com/XChenZ/havatar/issues/6",
	}),
	89: context(240, 390, 700, Source{
		ID:    "context-ada",
		Title: "RTX 6000 Ada: 426 MiB by cudaMemGetInfo (unslothai/unsloth-zoo#1053) and 429 MiB (DINGYANB/MTVCrafter#21); cards of 16 GB: 253 and 349 MiB (antgroup/echomimic_v2#115, qingze-bai/VSmTrans#3)",
		Where: "https://github.com/unslothai/unsloth-zoo/issues/1053",
	}),
	90: context(450, 520, 900, Source{
		ID:    "context-hopper",
		Title: "a card of 79.14 GiB: 512 MiB (Kwai-Keye/Keye#11)",
		Where: "https://github.com/Kwai-Keye/Keye/issues/11",
	}),
	100: context(450, 650, 1100, usualContext),
	103: context(450, 650, 1100, usualContext),
	120: context(300, 500, 900, usualContext),
}

// usualContext is the source of what nobody has measured for this table.
var usualContext = Source{
	ID:      "context-usual",
	Title:   "not measured on such a card: from cards of about its size and age, with room on both sides",
	Derived: true,
}

// context builds an interval of MiB.
func context(low, typical, high int, s Source) Interval {
	return Interval{unit.Bytes(low) * unit.MiB, unit.Bytes(typical) * unit.MiB, unit.Bytes(high) * unit.MiB, s}
}
