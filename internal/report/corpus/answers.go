package corpus

import (
	"github.com/plimsoll-dev/plimsoll/internal/report"
	"github.com/plimsoll-dev/plimsoll/unit"
)

const (
	h100 = 85_017_493_504 // what CUDA reports for an H100 80GB HBM3
	a100 = 42_406_903_808 // for an A100-SXM4-40GB
	ti   = 11_720_982_528 // for a GTX 1080 Ti
)

// Fits is a run with room to spare.
func Fits() *report.Report {
	line := trainingTimeline(Training(16, 8192), "cuda:0, NVIDIA H100 80GB HBM3", h100)
	bars := peakBars(line)
	return &report.Report{
		Command: "capture", Subject: "python train.py --batch-size 8",
		Verdict: report.Verdict{
			Answer: report.OK, Word: "fits",
			Sentence: "needs " + bars.Total.String() + ", H100 80GB offers 79.2 GiB",
			Method:   "captured with PyTorch 2.15.0 on a virtual GPU, 3 steps",
			Gauge:    report.Gauge{Need: bars.Total, Capacity: h100},
		},
		Reason: "the peak is in backward of step 1, at train.py:44 main",
		Sections: []report.Section{
			{Title: "At the peak", Bars: bars},
			{Title: "Source lines", Lead: "live at the peak, your own line first", Table: lines(line)},
			{Title: "Steps", Spark: steps(9*unit.GiB, 12*unit.GiB, 12*unit.GiB)},
			{Title: "Allocator", Detail: true, Facts: []report.Fact{
				{Name: "driver calls", Value: "214"}, {Name: "retries", Value: "0"},
				{Name: "replay", Value: "equal to PyTorch's own peaks, allocated and reserved"},
			}},
		},
		Timelines: []report.Timeline{line},
		Notes:     []string{noGPU}, Provenance: provenance(),
		Data: document("fits", bars.Total),
	}
}

// DoesNotFit is a run that needs more than there is, with remedies.
func DoesNotFit() *report.Report {
	line := trainingTimeline(Training(24, 16384), "cuda:0, NVIDIA A100-SXM4-40GB", a100)
	bars := peakBars(line)
	return &report.Report{
		Command: "capture", Subject: "python train.py --batch-size 16",
		Verdict: report.Verdict{
			Answer: report.No, Word: "does not fit",
			Sentence: "needs " + bars.Total.String() + ", A100-40GB offers 39.5 GiB",
			Method:   "captured with PyTorch 2.15.0 on a virtual GPU, 3 steps",
			Gauge:    report.Gauge{Low: bars.Total - unit.GiB, Need: bars.Total, High: bars.Total + 2*unit.GiB, Capacity: a100},
		},
		Reason: "activations of 24 layers are live at once in backward of step 1",
		Remedies: []report.Remedy{
			{Action: "--batch-size 8", Need: 24*unit.GiB + 300*unit.MiB, Exactness: report.SameExpectation, Cost: "about 6 % slower"},
			{Action: "model.gradient_checkpointing_enable()", Saves: 14 * unit.GiB, Exactness: report.SameNumbers, Cost: "one more forward pass"},
			{Action: "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True"},
		},
		Sections:  []report.Section{{Title: "At the peak", Bars: bars}, {Title: "Source lines", Table: lines(line)}},
		Timelines: []report.Timeline{line},
		Notes:     []string{noGPU}, Provenance: provenance(), Data: document("does-not-fit", bars.Total),
	}
}

// OOM is a script that ran out of memory on the virtual GPU.
func OOM() *report.Report {
	line := trainingTimeline(Training(12, 8192), "cuda:0, NVIDIA GeForce GTX 1080 Ti", ti)
	last := line.Events[len(line.Events)-1]
	line.Marks = append(line.Marks, report.Mark{Kind: report.OOMMark, Event: last, Name: "out of memory: 2.00 GiB asked"})
	return &report.Report{
		Command: "capture", Subject: "python train.py",
		Verdict: report.Verdict{
			Answer: report.No, Word: "does not fit", Sentence: "ran out of memory in step 3, GTX 1080 Ti offers 10.9 GiB",
			Method: "captured with PyTorch 2.15.0 on a virtual GPU",
			Gauge:  report.Gauge{Need: ti + 2*unit.GiB, Capacity: ti},
		},
		Reason: "train.py:44 main asked for 2.00 GiB where 512 MiB were free",
		Sections: []report.Section{{Title: "PyTorch's message", Text: "torch.OutOfMemoryError: CUDA out of memory. " +
			"Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 10.92 GiB of which 512.00 MiB is free. " +
			"Including non-PyTorch memory, this process has 10.41 GiB memory in use.\n  File \"train.py\", line 44, in main\n\tloss.backward()"}},
		Timelines: []report.Timeline{line}, Notes: []string{noGPU}, Provenance: provenance(),
		Data: document("does-not-fit", ti),
	}
}

// LowerBound is an answer with gaps.
func LowerBound() *report.Report {
	return &report.Report{
		Command: "capture", Subject: "python detect.py",
		Verdict: report.Verdict{
			Answer: report.Maybe, Word: "may not fit", Sentence: "needs at least 9.40 GiB, up to 11.6 GiB; GTX 1080 Ti offers 10.9 GiB",
			Gauge: report.Gauge{Low: 9400 * unit.MiB, Need: 10200 * unit.MiB, High: 11600 * unit.MiB, Capacity: ti},
		},
		Warnings: []report.Warning{
			{Code: "data-dependent-shape", Message: "nonzero ran 14 times at detect.py:88 and roi_heads.py:740", Consequence: "the peak is a lower bound: with zeros no box passes the threshold"},
			{Code: "cudnn-workspace", Message: "the workspaces of 31 convolutions are estimated", Consequence: "between 0 B and 2.20 GiB"},
		},
		Sections: []report.Section{{
			Title: "Data-dependent operators",
			Table: &report.Table{
				Columns: []report.Column{{Name: "operator"}, {Name: "line", Elide: report.CutStart}, {Name: "times", Kind: report.Count}},
				Rows: [][]report.Cell{
					{report.TextCell("aten::nonzero"), report.TextCell("/home/ada/vision/detect.py:88"), report.CountCell(12)},
					{report.TextCell("aten::nonzero"), report.TextCell("/venv/lib/python3.11/site-packages/torchvision/models/detection/roi_heads.py:740"), report.CountCell(2)},
					{report.TextCell("torchvision::nms"), report.TextCell("/venv/lib/python3.11/site-packages/torchvision/ops/boxes.py:41"), {}},
				},
			},
		}},
		Notes: []string{noGPU}, Provenance: provenance(), Data: document("may-not-fit", 10200*unit.MiB),
	}
}
