package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
)

// off is the error from which on a case is worth a line.
const off = 0.001

// printCases prints a line for each case, or for those that are off.
func printCases(w io.Writer, results []*result, verbose bool) {
	for _, r := range results {
		if !verbose && r.outcome == right && r.parameters && !r.outside && math.Abs(r.allocated) <= off && math.Abs(r.reserved) <= off {
			continue
		}
		fmt.Fprintf(w, "%-72s %s\n", r.file.GPU+" "+r.truth.ID, r.line())
	}
}

// line says in a few words how a case came out.
func (r *result) line() string {
	if r.err != nil {
		return fmt.Sprintf("%s: %v", r.outcome, r.err)
	}
	out := r.outcome.String()
	if r.measurable {
		out = fmt.Sprintf("allocated %s  reserved %s  %s", signed(r.allocated), signed(r.reserved), r.outcome)
	} else if r.truth.Measured.OutOfMemory != "" {
		out += ", ran out of memory"
	}
	if r.outside {
		out += fmt.Sprintf("  OUTSIDE of %d to %d", r.estimate.Peak.Low, r.estimate.Peak.High)
	}
	if m := r.truth.Measured; !r.parameters {
		out += fmt.Sprintf("  %d parameters, %d trainable; counted %d, %d", m.Parameters, m.Trainable, r.estimate.Model.Parameter, r.estimate.Model.Trainable)
	}
	return out
}

// signed writes a relative error in percent, "equal" for none.
func signed(e float64) string {
	if e == 0 {
		return "equal"
	}
	return fmt.Sprintf("%+"+digits(e), 100*e)
}

// bias is the mean of errors with its sign.
func bias(s spread) string {
	if s.bias == 0 {
		return "0 %"
	}
	return signed(s.bias)
}

// digits writes percent so that what is not zero never reads as such.
func digits(e float64) string {
	if math.Abs(e) < 0.5e-6 {
		return ".1g %%"
	}
	return ".4f %%"
}

func percent(e float64) string {
	if e == 0 {
		return "0"
	}
	return fmt.Sprintf("%"+digits(e), 100*e)
}

func printSummary(w io.Writer, s summary) {
	fmt.Fprintf(w, "\n%d cases, %d answered; of %d measured peaks, allocated is equal to the byte in %d and reserved in %d\n", s.cases, s.cases-s.refused, s.measured, s.allocatedToTheByte, s.reservedToByte)
	fmt.Fprintf(w, "bias: allocated %s, reserved %s; largest error: %s, %s\n", bias(s.allocated), bias(s.reserved), percent(s.allocated.worst), percent(s.reserved.worst))
	for _, b := range bars {
		word := "ok"
		if b.missed(s) {
			word = "MISSED"
		}
		fmt.Fprintf(w, "  %-36s %10s  bar %-8s  %s\n", b.what, b.format(b.value(s)), b.format(b.most), word)
	}
}

func (b bar) format(v float64) string {
	switch {
	case math.IsNaN(v):
		return "none"
	case b.count:
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.3g %%", 100*v)
}

// worstCases is how many cases the page names.
const worstCases = 12

// writePage writes the page of the documentation.
func writePage(name string, files []*file, results []*result) error {
	var b bytes.Buffer
	b.WriteString("# Accuracy\n\n<!-- Written by go run ./bars/accuracy CASES_DIR; do not edit. -->\n\n")
	b.WriteString("How near `plimsoll estimate` comes to what PyTorch's own allocator counted. The cases\n" +
		"were recorded on a virtual GPU, where kernels are not computed and cuDNN's workspaces\n" +
		"are zero; each is estimated from its configuration alone. The score takes cuDNN's\n" +
		"workspaces as zero, too, and leaves the CUDA context out where the cases have none: what\n" +
		"`plimsoll estimate` adds for both on a real card is an interval that is not scored here.\n\n")
	for _, f := range files {
		fmt.Fprintf(&b, "- %d cases on %s with PyTorch %s, Transformers %s, torchvision %s\n", len(f.Cases), f.GPU, f.Torch, f.Transformers, f.TorchVision)
	}
	s := summarize(results)
	fmt.Fprintf(&b, "\nOf %d measured peaks, the allocated one is equal to the byte in %d and the reserved one\nin %d. The mean error is %s and %s.\n\n", s.measured, s.allocatedToTheByte, s.reservedToByte, bias(s.allocated), bias(s.reserved))
	b.WriteString("| | here | bar |\n|---|---|---|\n")
	for _, bar := range bars {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", bar.what, bar.format(bar.value(s)), bar.format(bar.most))
	}
	for _, c := range cuts {
		fmt.Fprintf(&b, "\n## %s\n\n", c.title)
		b.WriteString("| | cases | refused | measured | allocated: median | 90th percentile | bias | reserved: median | 90th percentile | bias | may not fit | wrong verdicts |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n")
		for _, g := range groups(results, c.key) {
			s := summarize(g.results)
			fmt.Fprintf(&b, "| %s | %d | %d | %d | %s | %d | %d |\n", g.name, s.cases, s.refused, s.measured, s.errors(), s.unsure, s.falseFits+s.falseNos)
		}
	}
	writeWorst(&b, results)
	if err := writeChecks(&b); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return os.WriteFile(name, b.Bytes(), 0o644)
}

// errors are the cells of a row that measured peaks give, dashes without any.
func (s summary) errors() string {
	if s.measured == 0 {
		return "- | - | - | - | - | -"
	}
	return fmt.Sprintf("%s | %s | %s | %s | %s | %s",
		percent(s.allocated.median), percent(s.allocated.p90), bias(s.allocated),
		percent(s.reserved.median), percent(s.reserved.p90), bias(s.reserved))
}

// writeWorst lists the cases that are furthest off, and all whose verdict is
// wrong or that were not answered.
func writeWorst(b *bytes.Buffer, results []*result) {
	list := slices.DeleteFunc(slices.Clone(results), func(r *result) bool {
		return r.outcome == right && r.allocated == 0 && r.reserved == 0
	})
	size := func(r *result) float64 { return max(math.Abs(r.allocated), math.Abs(r.reserved)) }
	slices.SortStableFunc(list, func(x, y *result) int {
		return cmp.Or(cmp.Compare(y.outcome, x.outcome), cmp.Compare(size(y), size(x)))
	})
	if len(list) == 0 {
		return
	}
	b.WriteString("\n## The furthest off\n\n| case | card | |\n|---|---|---|\n")
	shown := 0
	for _, r := range list {
		if shown++; shown > worstCases && r.outcome == right {
			break
		}
		fmt.Fprintf(b, "| %s | %s | %s |\n", r.truth.ID, r.file.GPU, r.line())
	}
}
