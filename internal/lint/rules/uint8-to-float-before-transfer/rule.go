// Package uint8tofloatbeforetransfer finds images that become floats on the CPU before they are copied to the GPU.
package uint8tofloatbeforetransfer

import (
	_ "embed"
	"fmt"
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

// Rule is GPU115.
var Rule = &lint.Rule{
	Code:       "GPU115",
	Name:       "uint8-to-float-before-transfer",
	Severity:   lint.Warning,
	Title:      "Images become floats in the training process, and are copied to the GPU four times as large",
	Why:        "bytes travel as bytes: converted first, four times as much crosses the bus, and the CPU does in the step what the GPU does in no time",
	Cost:       "three bytes more a value over the bus: a batch of 256 images of 224x224 is 39 MB as bytes and 154 MB as floats (derived, 3 and 13 ms at 12 GB/s, which PCIe 3.0 x16 gives in practice), and the division on the CPU",
	Misses:     "conversions in datasets (ToTensor), where transforms need floats; batches whose values are not seen to be bytes",
	Fix:        lint.UnsafeFix,
	References: []string{"ultralytics/yolov5", "https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html"},
	Bad:        bad,
	Good:       good,
	Run:        run,
}

func run(p *lint.Pass) {
	p.MethodCalls(func(c *pyast.Call, on pyast.Expr) {
		if !p.EachBatch(c) || p.InTest(c) {
			return
		}
		name, _ := p.Method(c)
		if name == "to" && (p.Value(c).Place != lint.GPU || len(c.Args) == 0) {
			return
		}
		batch := scaled(p, on)
		if batch == nil {
			return
		}
		p.Report(c, fmt.Sprintf("%s is converted on the CPU and copied as floats", p.Text(batch)),
			lint.Unsafely("copy the bytes, then convert", lint.Replace(c, moved(p, c, on, batch))))
	}, "to", "cuda")
}

// scaled is the batch of bytes that an expression makes floats of, or nil:
// x.float() / 255, x / 255.0, x.float().div(255), x.to(torch.float32) / 255.
func scaled(p *lint.Pass, e pyast.Expr) pyast.Expr {
	switch e := e.(type) {
	case *pyast.BinOp:
		if e.Op == "/" && is255(p, e.Right) {
			return bytesOf(p, e.Left)
		}
		if e.Op == "-" || e.Op == "*" { // x / 127.5 - 1 and the like
			return nil
		}
	case *pyast.Call:
		if name, on := p.Method(e); (name == "div" || name == "div_" || name == "true_divide") && len(e.Args) == 1 && is255(p, e.Args[0]) {
			return bytesOf(p, on)
		}
	}
	return nil
}

func is255(p *lint.Pass, e pyast.Expr) bool {
	t := p.Text(e)
	return t == "255" || t == "255." || t == "255.0"
}

// bytesOf is the batch behind x, x.float() or x.to(torch.float32).
func bytesOf(p *lint.Pass, e pyast.Expr) pyast.Expr {
	if c, ok := e.(*pyast.Call); ok {
		name, on := p.Method(c)
		if name != "float" && (name != "to" || p.Value(c).Place == lint.GPU) {
			return nil
		}
		e = on
	}
	if v := p.Value(e); v.Kind == lint.Tensor && v.Batch && v.Place == lint.CPU {
		return e
	}
	return nil
}

// moved is the expression with the copy first.
func moved(p *lint.Pass, c *pyast.Call, on, batch pyast.Expr) string {
	text := p.Text(on)
	at := batch.Span().End - on.Span().Start
	copies := p.Text(c)[on.Span().End-c.Span().Start:]
	if i := strings.IndexByte(copies, '.'); i >= 0 {
		copies = copies[i:] // without a parenthesis that closes around the conversion
	}
	if op, ok := on.(*pyast.BinOp); ok {
		return "(" + p.Text(op)[:at] + copies + text[at:] + ")"
	}
	return text[:at] + copies + text[at:]
}
