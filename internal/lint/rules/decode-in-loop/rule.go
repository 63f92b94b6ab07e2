// Package decodeinloop finds files that are read and decoded on the training loop's thread.
package decodeinloop

import (
	_ "embed"

	"github.com/plimsoll-dev/plimsoll/internal/lint"
	"github.com/plimsoll-dev/plimsoll/internal/pyast"
)

var (
	//go:embed bad.py
	bad string
	//go:embed good.py
	good string
)

// Rule is GPU144.
var Rule = &lint.Rule{
	Code:       "GPU144",
	Name:       "decode-in-loop",
	Severity:   lint.Warning,
	Title:      "Samples are read and decoded in the training process, on every step",
	Why:        "the CPU reads and decodes between two steps, and the GPU waits for it",
	Cost:       "some 5 ms for a 224x224 JPEG on one core (order of size), so 0.15 s for a batch of 32, each step",
	Misses:     "decoding in functions of other files and packages; decoding behind a condition that holds only at times; evaluation and generation scripts",
	Fix:        lint.NoFix,
	References: []string{"https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html"},
	Bad:        bad,
	Good:       good,
	Run:        run,
}

func run(p *lint.Pass) {
	p.Calls(func(c *pyast.Call) {
		if what := slow[p.Callee(c)]; what != "" && p.EachStep(c) && !p.Measures(c) && !loads(p, c) {
			p.Report(c, p.Text(c.Func)+"() "+what+" in the training process on every step: do it in a Dataset, and load with workers")
		}
	})
}

// slow are functions that take a CPU long, by what they do.
var slow = map[string]string{
	"PIL.Image.open": "reads an image", "cv2.imread": "reads an image", "imageio.imread": "reads an image", "imageio.v2.imread": "reads an image", "skimage.io.imread": "reads an image",
	"torchvision.io.read_image": "reads an image", "torchvision.io.decode_image": "decodes an image", "torchvision.io.decode_jpeg": "decodes an image",
	"torchvision.io.read_video": "reads a video", "torchvision.datasets.folder.default_loader": "reads an image", "decord.VideoReader": "reads a video",
	"torchaudio.load": "reads audio", "librosa.load": "reads audio", "soundfile.read": "reads audio", "librosa.feature.melspectrogram": "computes a spectrogram",
	"nibabel.load": "reads a volume", "pydicom.dcmread": "reads an image", "pandas.read_csv": "reads a table", "pandas.read_parquet": "reads a table",
	"cv2.imdecode": "decodes an image", "numpy.load": "reads an array", "numpy.loadtxt": "reads an array",
}

// loads reports whether a call is in a function that a loader runs.
func loads(p *lint.Pass, c *pyast.Call) bool {
	fn := p.FuncOf(c)
	switch fn.Name {
	case "__getitem__", "__iter__", "__next__", "__getitems__", "collate", "collate_fn", "__init__":
		return true
	}
	return fn.Class != nil && p.IsDataset(fn.Class)
}
