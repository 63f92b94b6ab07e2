package symbolic

import (
	"bufio"
	"fmt"
	"io"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/tape"
)

// A Collection is a file of tapes: those of one family, with one version of
// PyTorch. Tapes share bodies that are equal, so that a file is read in a
// moment and its changes can be reviewed.
//
//	plimsoll symbolic 1
//	torch 2.15.0
//	symbol h hidden size
//	body 12
//	+ 2*B*S*h activation mm>linear
//	-layers.forward +3 near -1 ?B*S>3072
//	tape causal-lm/train/bf16/sdpa/none/80/untied
//	seen B 1 37
//	checked 9312 9312 0
//	part first layers.forward layers up 0 64 one:first=11 one=12
//	param model.norm.weight - - 0 bfloat16 trained layers.loaded:+0:0 backward:+5:0 h
//	end
type Collection struct {
	Meta    [][2]string // "torch", "transformers", ... in the order of the file
	Symbols []Symbol
	Keys    []string // of the tapes, in the order of the file

	tapes  map[string]string // lines of each tape
	bodies []string          // lines of each body
	parsed map[int][]Op
	words  words
}

// NewCollection returns an empty collection.
func NewCollection() *Collection {
	return &Collection{tapes: map[string]string{}, parsed: map[int][]Op{}, words: newWords()}
}

// The first line of a file, and the last.
const (
	fileHead = "plimsoll symbolic 1"
	fileEnd  = "end"
)

// The words of the format, all that there are. A direction's place is 1 where the
// last layer is the first to play, trained's where a parameter is trained.
var (
	versionWords   = []string{"torch", "transformers", "torchvision", "peft"}
	scopeWords     = []string{Load, First, Steady, Accumulate, Zero, Decode, Script}
	runWords       = []string{Load, First, Before}
	directionWords = []string{"up", "down"}
	trainedWords   = []string{"frozen", "trained"}
	whichWords     = []string{"near", "every", "nth", "last"}
)

// place is the place of a word in a list of those that may stand there.
func place(word string, list []string) (int, error) {
	i := slices.Index(list, word)
	if i < 0 {
		last := len(list) - 1
		return 0, fmt.Errorf("%q is not %s or %s", word, strings.Join(list[:last], ", "), list[last])
	}
	return i, nil
}

// word is the first or, where yes is true, the second of two.
func word(list []string, yes bool) string {
	if yes {
		return list[1]
	}
	return list[0]
}

// Add puts a tape into the collection, in place of one with the same key.
func (c *Collection) Add(key string, t *Tape) {
	var lines []string
	for _, s := range t.Seen {
		line := fmt.Sprintf("seen %s %d %d", s.Name, s.Low, s.High)
		if s.Step > 1 {
			line += fmt.Sprintf(" %d", s.Step)
		}
		lines = append(lines, line)
	}
	for _, k := range t.Checked {
		lines = append(lines, fmt.Sprintf("checked %d %d %.3g", k.Events, k.Equal, k.Peak))
	}
	lines = append(lines, t.aboutLines()...)
	if len(t.Ceiling.Terms) > 0 {
		lines = append(lines, "ceiling "+t.Ceiling.String())
	}
	for i := range t.Parts {
		p := &t.Parts[i]
		line := fmt.Sprintf("part %s %s %s %s %d %d", p.Scope, p.Name, dash(p.Stack), word(directionWords, p.Down), p.Level, p.Slots)
		for _, cl := range p.Classes {
			line += fmt.Sprintf(" %s=%d", dash(cl.Key), c.body(cl.Ops))
		}
		lines = append(lines, line)
	}
	homes, grads := newNumbering(), newNumbering()
	for i := range t.Params {
		lines = append(lines, paramLine(&t.Params[i], homes, grads))
	}
	if _, ok := c.tapes[key]; !ok {
		c.Keys = append(c.Keys, key)
	}
	c.tapes[key] = strings.Join(lines, "\n")
}

// Keep drops the tapes whose key is not wanted.
func (c *Collection) Keep(wanted func(key string) bool) {
	c.Keys = slices.DeleteFunc(c.Keys, func(key string) bool {
		if wanted(key) {
			return false
		}
		delete(c.tapes, key)
		return true
	})
}

// body returns the number of a body, which it adds when it is new.
func (c *Collection) body(ops []Op) int {
	text := bodyText(ops)
	if i := slices.Index(c.bodies, text); i >= 0 {
		return i
	}
	c.bodies = append(c.bodies, text)
	return len(c.bodies) - 1
}

// bodyText is the lines of a body.
func bodyText(ops []Op) string {
	lines, slots := make([]string, len(ops)), newNumbering()
	for i := range ops {
		lines[i] = opLine(&ops[i], slots)
	}
	return strings.Join(lines, "\n")
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func undash(s string) string {
	if s == "-" {
		return ""
	}
	return s
}

func opLine(op *Op, slots *numbering) string {
	var b strings.Builder
	if op.Free {
		fmt.Fprintf(&b, "-%s %s", op.Ref.Part, slots.within(op.Ref.Part, op.Ref.Slot))
		if op.Ref.Scope != "" {
			b.WriteString(" @" + op.Ref.Scope)
		}
		if op.Ref.Which != Near || op.Ref.At != 0 {
			fmt.Fprintf(&b, " %s %d", whichWords[op.Ref.Which], op.Ref.At)
		}
	} else {
		fmt.Fprintf(&b, "+%s %s %s %s", slots.allocation(op.Slot), op.Bytes, op.Category, dash(strings.ReplaceAll(op.Label, " ", ">")))
		if op.Error > 0 {
			fmt.Fprintf(&b, " ~%.3g", op.Error)
		}
	}
	if len(op.When) > 0 {
		b.WriteString(" ?" + op.When.String())
	}
	return b.String()
}

func paramLine(p *Param, homes, grads *numbering) string {
	line := fmt.Sprintf("param %s %s %s %d %s %s %s %s", p.Name, dash(p.Stack), dash(p.Class), p.Level, p.DType, word(trainedWords, p.Trainable), placeText(p.Home, homes), placeText(p.Grad, grads))
	for _, e := range p.Shape {
		line += " " + e.String()
	}
	return line
}

func placeText(r Ref, slots *numbering) string {
	if r.Part == "" {
		return "-"
	}
	return fmt.Sprintf("%s:%s:%d", r.Part, slots.within(r.Part, r.Slot), r.At)
}

// WriteTo writes the collection.
func (c *Collection) WriteTo(w io.Writer) (int64, error) {
	out := &counted{w: bufio.NewWriter(w)}
	fmt.Fprintln(out, fileHead)
	for _, m := range c.Meta {
		fmt.Fprintln(out, m[0], m[1])
	}
	for _, s := range c.Symbols {
		fmt.Fprintln(out, "symbol", s.Name, s.Meaning)
	}
	used, order := c.used()
	for n, i := range order {
		fmt.Fprintln(out, "body", n)
		if c.bodies[i] != "" {
			fmt.Fprintln(out, c.bodies[i])
		}
	}
	for _, key := range c.Keys {
		fmt.Fprintln(out, "tape", key)
		for l := range lines(c.tapes[key]) {
			fmt.Fprintln(out, renumbered(l, used))
		}
	}
	fmt.Fprintln(out, fileEnd)
	return out.n, out.w.Flush()
}

// used numbers the bodies that a tape uses anew, in the order of their use.
func (c *Collection) used() (number map[int]int, order []int) {
	number = map[int]int{}
	for _, key := range c.Keys {
		for l := range lines(c.tapes[key]) {
			eachBody(l, func(i int) {
				if _, ok := number[i]; !ok {
					number[i] = len(order)
					order = append(order, i)
				}
			})
		}
	}
	return number, order
}

// lines are those of a text, none of an empty one.
func lines(text string) iter.Seq[string] {
	if text == "" {
		return func(func(string) bool) {}
	}
	return strings.SplitSeq(text, "\n")
}

func eachBody(line string, f func(int)) {
	if !strings.HasPrefix(line, "part ") {
		return
	}
	for _, field := range strings.Fields(line)[7:] {
		if n, err := strconv.Atoi(field[strings.LastIndexByte(field, '=')+1:]); err == nil {
			f(n)
		}
	}
}

func renumbered(line string, number map[int]int) string {
	if !strings.HasPrefix(line, "part ") {
		return line
	}
	fields := strings.Fields(line)
	for i := 7; i < len(fields); i++ {
		at := strings.LastIndexByte(fields[i], '=') + 1
		n, _ := strconv.Atoi(fields[i][at:])
		fields[i] = fields[i][:at] + strconv.Itoa(number[n])
	}
	return strings.Join(fields, " ")
}

type counted struct {
	w *bufio.Writer
	n int64
}

func (c *counted) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += int64(n)
	return n, err
}

var categoryOf = func() map[string]tape.Category {
	m := map[string]tape.Category{}
	for _, c := range tape.Categories() {
		m[c.String()] = c
	}
	return m
}()
