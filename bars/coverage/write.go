package main

import (
	"fmt"
	"os"
	"strings"
)

// writePage writes what is recorded as a page of the documentation.
func writePage(path string, rows []row) error {
	var b strings.Builder
	b.WriteString(`# What estimate has an answer for

This page is written by ` + "`go run ./bars/coverage`" + `. It asks about one built-in model of
every structure of a family: each head that the structure has; training without
checkpointing, with all layers checkpointed and with every second one, evaluation, and
generation of models that continue a text; fp32, bf16 and autocast in bf16 and fp16
(generation: fp32, bf16, fp16); sdpa and eager attention; a T4, an A100 and an H100.
Models of torchvision are asked about training and evaluation in each precision and both
layouts of memory.

An answer is *without a doubt* where every size is what the recordings show at other
dimensions, too; the others say what is in doubt, and by how much. A refused question
was not recorded: ` + "`plimsoll capture`" + ` answers it.

| family | structures | questions | answered | without a doubt | refused |
|---|---:|---:|---:|---:|---:|
`)
	for _, r := range append(rows, total(rows)) {
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %d |\n", r.family, r.structures, r.asked, r.answered, r.exact, len(r.refused))
	}
	return os.WriteFile(path, []byte(b.String()), 0o644)
}
