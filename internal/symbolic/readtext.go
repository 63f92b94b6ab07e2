package symbolic

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Bounds of what is read; recordings are far below them.
const (
	maxSlots  = 1 << 20
	maxBodies = 1 << 20
	maxOps    = 1 << 20 // of all parts of a tape; bodies that are shared count for each
)

// ParseCollection reads the text of a collection. Bodies and tapes are looked at only
// when Tape wants them.
func ParseCollection(text string) (c *Collection, err error) {
	text, whole := strings.CutSuffix(strings.TrimSuffix(text, "\n"), "\n"+fileEnd)
	head, text, _ := strings.Cut(text, "\n")
	if head != fileHead {
		return nil, fmt.Errorf("line 1: %q expected", fileHead)
	}
	if !whole {
		return nil, fmt.Errorf("the last line is not %q: the file was cut off", fileEnd)
	}
	c = NewCollection()
	for text != "" {
		var line, word, rest string
		line, text, _ = strings.Cut(text, "\n")
		word, rest, _ = strings.Cut(line, " ")
		switch word {
		case "body":
			err = c.readBody(rest, &text)
		case "tape":
			err = c.readTape(rest, &text)
		case "symbol":
			err = c.readSymbol(rest)
		default:
			err = c.readVersion(word, rest)
		}
		if err != nil {
			return nil, err
		}
	}
	return c, nil
}

// readVersion reads a line before the first symbol.
func (c *Collection) readVersion(word, version string) error {
	if _, err := place(word, versionWords); err != nil || len(c.Symbols) > 0 {
		return fmt.Errorf("a line begins with %q, where symbol, body, tape or, before them, %s is expected", word, strings.Join(versionWords, ", "))
	}
	if version == "" || slices.ContainsFunc(c.Meta, func(m [2]string) bool { return m[0] == word }) {
		return fmt.Errorf("one version of %s expected", word)
	}
	c.Meta = append(c.Meta, [2]string{word, version})
	return nil
}

func (c *Collection) readSymbol(text string) error {
	name, meaning, _ := strings.Cut(text, " ")
	if name == "" || slices.ContainsFunc(c.Symbols, func(s Symbol) bool { return s.Name == name }) {
		return fmt.Errorf("symbol %q: a name that no other symbol has expected", name)
	}
	c.Symbols = append(c.Symbols, Symbol{name, meaning})
	return nil
}

func (c *Collection) readBody(number string, text *string) error {
	if number != strconv.Itoa(len(c.bodies)) || len(c.bodies) == maxBodies {
		return fmt.Errorf("body %d expected, not %s", len(c.bodies), number)
	}
	c.bodies = append(c.bodies, section(text, "body ", "tape "))
	return nil
}

func (c *Collection) readTape(key string, text *string) error {
	if _, ok := c.tapes[key]; ok {
		return fmt.Errorf("tape %s is there twice", key)
	}
	c.Keys = append(c.Keys, key)
	c.tapes[key] = section(text, "tape ")
	return nil
}

// section takes the lines off a text that come before one that begins with a
// given word. Tapes come after all bodies.
func section(text *string, words ...string) string {
	end := len(*text)
	for _, next := range words {
		if strings.HasPrefix(*text, next) {
			return ""
		}
		if i := strings.Index((*text)[:end], "\n"+next); i >= 0 {
			end = i
		}
	}
	out := (*text)[:end]
	*text = strings.TrimPrefix((*text)[end:], "\n")
	return out
}

// Tape returns the tape with a key.
func (c *Collection) Tape(key string) (*Tape, error) {
	text, ok := c.tapes[key]
	if !ok {
		return nil, fmt.Errorf("there is no tape %s", key)
	}
	t := &Tape{Title: key, Symbols: c.Symbols}
	i, room := 0, maxOps
	homes, grads := newNumbering(), newNumbering()
	for line := range lines(text) {
		i++
		f := strings.Fields(line)
		if len(f) == 0 {
			return nil, fmt.Errorf("tape %s, line %d is empty", key, i)
		}
		var err error
		switch f[0] {
		case "seen":
			err = t.readSeen(f)
		case "checked":
			err = t.readChecked(f)
		case "about":
			err = t.readAbout(line)
		case "ceiling":
			err = t.readCeiling(f)
		case "part":
			err = c.readPart(t, f, &room)
		case "param":
			err = c.readParam(t, f, homes, grads)
		default:
			err = errors.New("seen, checked, about, ceiling, part or param expected")
		}
		if err != nil {
			return nil, fmt.Errorf("tape %s, line %d: %w", key, i, err)
		}
	}
	return t, t.check()
}

// Has reports whether there is a tape with a key.
func (c *Collection) Has(key string) bool {
	_, ok := c.tapes[key]
	return ok
}

func (t *Tape) readSeen(f []string) error {
	if len(f) != 4 && len(f) != 5 {
		return errors.New("seen NAME LOW HIGH, and STEP if it is not 1, expected")
	}
	low, err1 := strconv.ParseInt(f[2], 10, 64)
	high, err2 := strconv.ParseInt(f[3], 10, 64)
	step, err3 := int64(1), error(nil)
	if len(f) == 5 {
		step, err3 = strconv.ParseInt(f[4], 10, 64)
	}
	if err := errors.Join(err1, err2, err3); err != nil {
		return err
	}
	if low > high || step < 1 {
		return fmt.Errorf("from %d to %d in steps of %d", low, high, step)
	}
	t.Seen = append(t.Seen, Span{f[1], low, high, step})
	return nil
}

func (t *Tape) readCeiling(f []string) (err error) {
	if len(f) != 2 || len(t.Ceiling.Terms) > 0 {
		return errors.New("one ceiling BYTES expected")
	}
	t.Ceiling, err = Parse(f[1])
	return err
}

func (t *Tape) readChecked(f []string) error {
	if len(f) != 4 {
		return errors.New("checked EVENTS EQUAL PEAK expected")
	}
	events, err1 := strconv.Atoi(f[1])
	equal, err2 := strconv.Atoi(f[2])
	peak, err3 := strconv.ParseFloat(f[3], 64)
	if err := errors.Join(err1, err2, err3); err != nil {
		return err
	}
	if equal < 0 || equal > events || !(peak >= -1 && peak < math.MaxInt32) {
		return fmt.Errorf("%d of %d events equal, the peak off by %v", equal, events, peak)
	}
	t.Checked = append(t.Checked, Check{events, equal, peak})
	return nil
}

// readPart reads a part; room is how many events the tape may still have.
func (c *Collection) readPart(t *Tape, f []string, room *int) error {
	if len(f) < 8 {
		return errors.New("part SCOPE NAME STACK up|down LEVEL SLOTS CLASS=BODY... expected")
	}
	_, err1 := place(f[1], scopeWords)
	down, err2 := place(f[4], directionWords)
	level, err3 := strconv.Atoi(f[5])
	slots, err4 := strconv.Atoi(f[6])
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return err
	}
	p := Part{Scope: f[1], Name: f[2], Stack: undash(f[3]), Down: down == 1}
	if slots < 0 || slots > maxSlots {
		return fmt.Errorf("%d slots", slots)
	}
	p.Level, p.Slots = level, slots
	for _, class := range f[7:] {
		at := strings.LastIndexByte(class, '=')
		n, err := strconv.Atoi(class[at+1:])
		if at < 0 || err != nil || n < 0 || n >= len(c.bodies) {
			return fmt.Errorf("%q names no body", class)
		}
		ops, err := c.ops(n)
		if err != nil {
			return err
		}
		if *room -= len(ops) + 1; *room < 0 {
			return fmt.Errorf("more than %d events", maxOps)
		}
		for i := range ops {
			if !ops[i].Free && ops[i].Slot >= slots {
				return fmt.Errorf("body %d has slot %d of %d", n, ops[i].Slot, slots)
			}
		}
		p.Classes = append(p.Classes, Class{undash(class[:at]), ops})
	}
	t.Parts = append(t.Parts, p)
	return nil
}

func (c *Collection) readParam(t *Tape, f []string, homes, grads *numbering) error {
	if len(f) < 9 {
		return errors.New("param NAME STACK CLASS LEVEL TYPE trained|frozen HOME GRADIENT SHAPE... expected")
	}
	level, err1 := strconv.Atoi(f[4])
	trained, err2 := place(f[6], trainedWords)
	home, err3 := readPlace(f[7], homes)
	grad, err4 := readPlace(f[8], grads)
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return err
	}
	p := Param{Name: f[1], Stack: undash(f[2]), Class: undash(f[3]), Level: level, DType: f[5], Trainable: trained == 1, Home: home, Grad: grad}
	for _, s := range f[9:] {
		e, err := c.words.expr(s)
		if err != nil {
			return err
		}
		p.Shape = append(p.Shape, e)
	}
	t.Params = append(t.Params, p)
	return nil
}

func readPlace(s string, slots *numbering) (Ref, error) {
	if s == "-" {
		return Ref{}, nil
	}
	f := strings.Split(s, ":")
	if len(f) != 3 {
		return Ref{}, fmt.Errorf("%q is no PART:SLOT:DISTANCE", s)
	}
	slot, err1 := slots.readWithin(f[0], f[1])
	at, err2 := strconv.Atoi(f[2])
	return Ref{Part: f[0], Slot: slot, At: at}, errors.Join(err1, err2)
}

// check refuses a tape whose refs lead nowhere, so that Play need not look; parts
// of one name have room for the slots of all of them.
func (t *Tape) check() error {
	slots := map[string]int{}
	for i := range t.Parts {
		p := &t.Parts[i]
		slots[p.Name] = max(slots[p.Name], p.Slots)
		if p.Stack == "" && len(p.Classes) != 1 {
			return fmt.Errorf("part %s has no layers and %d classes", p.Name, len(p.Classes))
		}
		if p.Level < 0 || p.Level > HighestLevel {
			return fmt.Errorf("part %s has level %d", p.Name, p.Level)
		}
	}
	ok := func(r Ref) bool { n, found := slots[r.Part]; return found && r.Slot < n }
	for i := range t.Parts {
		for _, c := range t.Parts[i].Classes {
			for o := range c.Ops {
				if op := &c.Ops[o]; op.Free && !ok(op.Ref) {
					return fmt.Errorf("part %s frees slot %d of %q, which there is not", t.Parts[i].Name, op.Ref.Slot, op.Ref.Part)
				}
			}
		}
	}
	for i := range t.Params {
		if l := t.Params[i].Level; l < KindLevel || l > HighestLevel {
			return fmt.Errorf("parameter %s has level %d", t.Params[i].Name, l)
		}
		for _, r := range []Ref{t.Params[i].Home, t.Params[i].Grad} {
			if r.Part != "" && !ok(r) {
				return fmt.Errorf("parameter %s lies in slot %d of %q, which there is not", t.Params[i].Name, r.Slot, r.Part)
			}
		}
	}
	return nil
}
