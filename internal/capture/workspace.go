package capture

import (
	"strings"

	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// workspaceRoom is how much more than recorded cuDNN may take at the peak: 0
// when nothing on the tape went through it, or when the user gave a size.
//
// One plan runs at a time, so it is one workspace. Its size is asked from the
// library, which is not there. The bound is what PyTorch 2.x lets the
// heuristics choose from without benchmark mode, in practice; the public
// recording of a small convolution net shows 50 to 205 KiB.
func workspaceRoom(r *Recording, o Options) unit.Bytes {
	if o.CuDNNWorkspace >= 0 || !usesConvolution(r) {
		return 0
	}
	return largestWorkspace
}

// largestWorkspace is a bound on judgement, not a measurement: it is shown as
// the upper end of an interval.
const largestWorkspace = 256 * unit.MiB

// convolutionFiles are where PyTorch's Python calls that reach cuDNN stand.
var convolutionFiles = []string{"torch/nn/modules/conv.py", "torch/nn/modules/rnn.py", "torch/nn/modules/batchnorm.py"}

func usesConvolution(r *Recording) bool {
	for s := range r.Tape.Sites() {
		for _, f := range r.Tape.Site(tape.SiteID(s + 1)) {
			for _, file := range convolutionFiles {
				if strings.HasSuffix(f.File, file) {
					return true
				}
			}
		}
	}
	return false
}
