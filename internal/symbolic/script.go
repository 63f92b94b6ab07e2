package symbolic

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/tape"
)

// Script is the scope of a script's whole run, all of which was recorded: the
// optimizer and what the script keeps across steps, too. Its parts are played one
// after the other, once each. A part is called "2.1.blocks.3.backward": the step,
// which time in that step, the module if it is one of several alike, the phase.
const Script = "script"

// The words of what is known of a script's capture. Notes and multiples may be
// there several times.
const (
	AboutCommand   = "command"    // with placeholders
	AboutCard      = "card"       // that the script was shown
	AboutDevice    = "device"     // capability, multiprocessors, threads of each
	AboutAllocConf = "alloc_conf" // settings of the allocator
	AboutOutside   = "outside"    // bytes of the driver's that are not the allocator's
	AboutVaried    = "varied"     // a symbol and its name in the command
	AboutNote      = "note"       // a code and a sentence: what the tape does not have
)

// aboutWords are all of them.
var aboutWords = []string{AboutCommand, AboutCard, AboutDevice, AboutAllocConf, AboutOutside, AboutVaried, AboutNote}

// Fact is the value of a word, empty where there is none.
func (t *Tape) Fact(word string) string {
	for _, a := range t.About {
		if a.Word == word {
			return a.Value
		}
	}
	return ""
}

// PartOfScript is the name of a part of a script.
func PartOfScript(step, time int, module string, phase tape.Phase) string {
	if module != "" {
		module += "."
	}
	return strconv.Itoa(step) + "." + strconv.Itoa(time) + "." + module + phase.String()
}

// scriptPhase is the phase in the name of a script's part.
func scriptPhase(name string) tape.Phase {
	phase, _ := tape.ParsePhase(name[strings.LastIndexByte(name, '.')+1:])
	return phase
}

// scriptStep is the step in the name of a script's part.
func scriptStep(name string) int {
	number, _, _ := strings.Cut(name, ".")
	n, _ := strconv.Atoi(number)
	return n
}

// scriptLayer is the module of a part that is its first forward pass, empty for
// other parts.
func scriptLayer(name string) string {
	module, ok := strings.CutPrefix(name, "1.1.")
	if !ok {
		return ""
	}
	if module, ok = strings.CutSuffix(module, "."+tape.Forward.String()); !ok {
		return ""
	}
	return module
}

// PlayScript writes the run of a script to w.
func (t *Tape) PlayScript(env Env, plan Plan, w *tape.Writer) (*Played, error) {
	p, err := t.newPlayer(env, plan, w)
	if err != nil {
		return nil, err
	}
	out := &p.played
	step := 0
	for i := range t.Parts {
		part := &t.Parts[i]
		if part.Scope != Script {
			continue
		}
		if n := scriptStep(part.Name); n > step {
			if step > 0 {
				w.Mark(tape.MarkStep, "", int64(step))
			}
			step = n
			out.Starts = append(out.Starts, w.Tape().Len())
		}
		first := tape.BlockID(w.Tape().Blocks())
		if err := p.part(i); err != nil {
			return nil, err
		}
		if name := scriptLayer(part.Name); name != "" {
			out.Layers = append(out.Layers, Layer{name, first, tape.BlockID(w.Tape().Blocks())})
		}
	}
	if step > 0 {
		w.Mark(tape.MarkStep, "", int64(step))
	}
	out.Starts = append(out.Starts, w.Tape().Len())
	out.Dims = p.env.Dims
	out.Params, err = p.params()
	return out, err
}

// Labels of a script say the module, "@blocks.3.mlp", and the line,
// "train.py:61", before the operators.
const moduleMark = "@"

// scriptFrame is what people are told of a label of a script.
func scriptFrame(label string) tape.Frame {
	var where []string
	words := strings.Fields(label)
	for len(words) > 0 && (strings.HasPrefix(words[0], moduleMark) || strings.Contains(words[0], ":")) {
		where = append(where, strings.TrimPrefix(words[0], moduleMark))
		words = words[1:]
	}
	return tape.Frame{Name: strings.Join(where, " at "), File: operatorOf(strings.Join(words, " "))}
}

func (t *Tape) aboutLines() []string {
	var lines []string
	for _, a := range t.About {
		lines = append(lines, "about "+a.Word+" "+a.Value)
	}
	return lines
}

// readAbout reads "about WORD VALUE"; the value is the rest of the line.
func (t *Tape) readAbout(line string) error {
	_, rest, _ := strings.Cut(line, " ")
	word, value, _ := strings.Cut(rest, " ")
	if _, err := place(word, aboutWords); err != nil {
		return err
	}
	if value == "" {
		return fmt.Errorf("about %s says nothing", word)
	}
	t.About = append(t.About, About{word, value})
	return nil
}
