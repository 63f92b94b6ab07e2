package oomlog

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/plimsoll-dev/plimsoll/unit"
)

// How much is kept of one log, whatever it holds.
const (
	mostMessages = 1000
	mostOfKind   = 250
	mostDetails  = 4096
	linesBefore  = 40
	linesAfter   = 12
	longestShown = 4 << 10 // bytes of a message's text
)

// nearby is within how many bytes two wordings are about the same.
const nearby = 64 << 10

// A fact is a detail that was found.
type fact struct {
	detail *detail
	fields map[string]int64
	offset int64
}

// A collector gathers what the windows of a log hold.
type collector struct {
	log     Log
	table   *compiled
	copies  map[string]*Message
	kinds   map[*Kind]int // how many messages there are of each
	facts   []fact
	largest map[*detail]*fact
	shm     series
	timing  series

	// Of the window that is taken: what its lines are, by their offset. Nil
	// is for lines that have to be read, one that counts nothing for one that
	// was left out. long are the first and the last line of messages of several.
	told map[int64]*Message
	long [][2]int64
}

func newCollector() *collector {
	return &collector{
		log: Log{Devices: map[string]unit.Bytes{}}, table: table(), copies: map[string]*Message{}, largest: map[*detail]*fact{},
		kinds: map[*Kind]int{}, told: map[int64]*Message{},
	}
}

// quote notes the place of a message that is none.
func (c *collector) quote(m *Message) {
	c.told[m.Offset] = nil
	if c.log.Quoted == 0 {
		c.log.Quoted = m.Line
	}
}

// inside reports whether a line is part of a message of several.
func (c *collector) inside(offset int64) bool {
	return slices.ContainsFunc(c.long, func(l [2]int64) bool { return offset >= l[0] && offset <= l[1] })
}

// tell notes what the line of a message is; as is the one that it is a copy of.
func (c *collector) tell(m, as *Message) {
	if m.last != m.Offset {
		c.long = append(c.long, [2]int64{m.Offset, m.last})
	}
	if _, second := c.told[m.Offset]; second {
		as = nil
	}
	c.told[m.Offset] = as
}

// take reads a window of the log. Messages that begin before from were taken
// already, those from until on will come again.
func (c *collector) take(window []byte, offset int64, first int, from, until int64) {
	for _, s := range streams(window, offset, first) {
		taken := func(at int) bool {
			o := offset + int64(s.at[at])
			return o >= from && o < until
		}
		c.find(s, taken)
		c.follow(s, from, until)
	}
}

// find looks for the forms in a stream.
func (c *collector) find(s *stream, taken func(at int) bool) {
	hits := c.table.words.hits(s.text)
	slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Compare(a.start, b.start) })
	end := 0
	for len(hits) > 0 {
		n := 1
		for n < len(hits) && hits[n].start == hits[0].start {
			n++
		}
		at := hits[0].start
		if m := c.best(s, hits[:n], at >= end); m != nil {
			end = m.span
			switch {
			case !taken(at):
			case m.isQuoted(s.sides(at, m.span)):
				c.quote(m)
			default:
				c.add(m)
			}
		}
		hits = hits[n:]
	}
}

// best compares the forms that begin with the words at one place and returns
// the message of the one that goes furthest. Details are kept on the way.
func (c *collector) best(s *stream, hits []hit, messages bool) *Message {
	type candidate struct {
		match
		kind *Kind
	}
	var found []candidate
	for _, h := range hits {
		for _, r := range c.table.rules[h.word] {
			m := r.form.match(s, h.start)
			switch {
			case r.detail != nil && m.whole:
				offset := s.lines[s.lineAt(h.start)].offset
				c.told[offset] = nil
				c.keep(r.detail, m, offset)
			case r.kind == nil || !messages || !m.whole && (r.kind.Least == 0 || m.holes < r.kind.Least):
			case r.kind.Devices == nil || slices.Contains(r.kind.Devices, deviceBefore(s.text[:h.start])):
				found = append(found, candidate{m, r.kind})
			}
		}
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return cmp.Compare(b.literal+b.holes, a.literal+a.holes) })
	for _, f := range found {
		if m := newMessage(s, hits[0].start, f.match, f.kind); m != nil {
			return m
		}
	}
	return nil
}

// deviceBefore is the word before "out of memory." at the end of text: cuda,
// hip, xpu, npu, "" for none of them, and cuda when the text says nothing.
func deviceBefore(text []byte) string {
	before, ok := strings.CutSuffix(strings.TrimSuffix(string(text[max(0, len(text)-40):]), "."), "outofmemory")
	if !ok {
		return "cuda"
	}
	for _, word := range []string{"cuda", "hip", "xpu", "npu"} {
		if strings.HasSuffix(before, word) {
			return word
		}
	}
	return ""
}

// newMessage makes a message of a match, nil when its kind refuses it.
func newMessage(s *stream, at int, f match, k *Kind) *Message {
	first := s.lineAt(at)
	last := s.lineAt(max(f.end-1, at))
	m := &Message{
		Kind: k, Framework: k.Framework, Version: k.Versions, Fields: f.fields, Words: f.words, Processes: f.processes,
		Line: s.lines[first].number, Offset: s.lines[first].offset, Count: 1, Cut: !f.whole, rank: s.rank, span: f.end,
		last: s.lines[last].offset, lastLine: s.lines[last].number,
		Logger: s.lines[first].prefix,
		Text:   shorten(strings.Join(s.bodies(first, last+1), "\n")),
		Before: s.bodies(first-linesBefore, first), After: s.bodies(last+1, last+1+linesAfter),
		unit: f.unit, next: string(s.text[f.end:min(len(s.text), f.end+32)]), prior: string(s.text[max(0, at-64):at]),
	}
	if s.rank >= 0 {
		m.Ranks = []int{s.rank}
	}
	delete(m.Fields, "_")
	for name, v := range k.Fixed {
		m.Fields[name] = v
	}
	if k.Framework == "pytorch" && deviceBefore(s.text[:at]) == "hip" {
		m.Framework = "pytorch-rocm"
	}
	if k.Finish != nil && !k.Finish(m) {
		return nil
	}
	m.refine()
	return m
}

func shorten(s string) string {
	if len(s) > longestShown {
		return s[:longestShown] + "..."
	}
	return s
}

// keep stores a detail.
func (c *collector) keep(d *detail, m match, offset int64) {
	f := fact{d, m.fields, offset}
	if d.keep == largest {
		if old := c.largest[d]; old == nil || sum(f.fields) > sum(old.fields) {
			c.largest[d] = &f
		}
		return
	}
	if d.card != "" {
		c.log.Devices[d.card] = max(c.log.Devices[d.card], unit.Bytes(f.fields["card_bytes"]))
		return
	}
	if len(c.facts) < mostDetails {
		c.facts = append(c.facts, f)
	}
}

func sum(fields map[string]int64) (n int64) {
	for _, v := range fields {
		n += v
	}
	return n
}

// key is equal for copies of one message.
func (m *Message) key() string {
	var b strings.Builder
	b.WriteString(m.Kind.Name)
	names := make([]string, 0, len(m.Fields))
	for name := range m.Fields {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		fmt.Fprintf(&b, " %s=%d", name, m.Fields[name])
	}
	for _, p := range m.Processes {
		fmt.Fprintf(&b, " %d:%d", p.PID, p.Bytes)
	}
	return b.String()
}

// add takes a message, unless it is a copy or a part of one that is there.
func (c *collector) add(m *Message) {
	key := m.key()
	if old := c.copies[key]; old != nil {
		old.again(m)
		c.tell(m, old)
		return
	}
	if n := len(c.log.Messages); n > 0 {
		// Two wordings of one error, such as its warning and its exception.
		if old := c.log.Messages[n-1]; old.Kind == m.Kind && sameRank(old.rank, m.rank) && m.Offset-old.last < nearby/16 && old.agrees(m) {
			old.join(m)
			c.copies[old.key()] = old
			c.tell(m, nil)
			return
		}
	}
	if c.full(m.Kind) {
		c.log.Dropped++
		c.tell(m, &Message{Kind: m.Kind})
		return
	}
	c.copies[key] = m
	c.kinds[m.Kind]++
	c.tell(m, m)
	c.log.Messages = append(c.log.Messages, m)
}

// sameRank reports whether two lines can be of one rank: a warning often has no
// rank before it where the exception has one.
func sameRank(a, b int) bool { return a == b || a < 0 || b < 0 }

// full reports whether no more different messages of a kind are kept.
func (c *collector) full(k *Kind) bool {
	return len(c.log.Messages) == mostMessages || c.kinds[k] == mostOfKind
}

// again counts a copy.
func (m *Message) again(copied *Message) {
	if copied.Line > m.lastLine || copied.rank != m.rank {
		m.Count += copied.Count // else it is one line with two wordings
	}
	m.lastLine, m.rank = copied.lastLine, copied.rank
	m.last = max(m.last, copied.last)
	for _, r := range copied.Ranks {
		m.onRank(r)
	}
	if len(m.Before) < len(copied.Before) && len(m.Before) < linesBefore/4 {
		m.Before = copied.Before // a summary came first, the traceback later
	}
}

// onRank notes a rank that printed the message.
func (m *Message) onRank(r int) {
	if i, found := slices.BinarySearch(m.Ranks, r); !found {
		m.Ranks = slices.Insert(m.Ranks, i, r)
	}
}

// agrees reports whether two messages say nothing different.
func (m *Message) agrees(other *Message) bool {
	for name, v := range other.Fields {
		if old, there := m.Fields[name]; there && old != v {
			return false
		}
	}
	return len(m.Processes) == 0 || len(other.Processes) == 0
}

// join takes over what another wording of the same error says more.
func (m *Message) join(other *Message) {
	for name, v := range other.Fields {
		m.Fields[name] = v
	}
	for name, w := range other.Words {
		if m.Words[name] == "" {
			m.Words[name] = w
		}
	}
	if len(m.Processes) == 0 {
		m.Processes, m.SelfPID = other.Processes, other.SelfPID
	}
	if !strings.Contains(m.Text, other.Text) {
		m.Text = shorten(m.Text + "\n" + other.Text)
	}
	m.After = other.After
	m.Cut = m.Cut && other.Cut
	m.last, m.lastLine = other.last, other.lastLine
}

// finish completes the messages from the details and returns the log.
func (c *collector) finish(bytes int64, lines int) *Log {
	c.addSeries()
	for _, m := range c.log.Messages {
		c.complete(m)
	}
	c.absorb()
	c.log.Bytes, c.log.Lines = bytes, lines
	return &c.log
}

// complete gives a message the nearest details of its kind, each field from
// the first that has it.
func (c *collector) complete(m *Message) {
	for i := range details {
		d := &details[i]
		if !slices.Contains(d.kinds, m.Kind.Name) {
			continue
		}
		found := c.largest[d]
		for j := range c.facts {
			f := &c.facts[j]
			if f.detail == d && (found == nil || distance(f, m) < distance(found, m)) {
				found = f
			}
		}
		if found == nil {
			continue
		}
		for name, v := range found.fields {
			if _, there := m.Fields[name]; !there && name != "_" {
				m.Fields[name] = v
			}
		}
	}
}

func distance(f *fact, m *Message) int64 {
	if d := f.offset - m.Offset; d > 0 {
		return d
	}
	return m.Offset - f.offset
}

// absorb leaves out messages that are about the same as a more telling one.
func (c *collector) absorb() {
	var kept []*Message
	for _, m := range c.log.Messages {
		by := c.absorber(m)
		if by == nil {
			kept = append(kept, m)
			continue
		}
		by.inherit(m)
	}
	c.log.Messages = kept
}

// absorber is the message that says what m says and more.
func (c *collector) absorber(m *Message) *Message {
	for _, by := range c.log.Messages {
		switch {
		case by == m:
		case slices.Contains(by.Kind.Absorbs, m.Kind.Name) && by.last-m.last < nearby && m.Offset-by.last < nearby:
			return by
		case m.Kind.Name == cutKind && by.Kind.Name != cutKind && slices.Contains(torchSized, by.Kind.Name) && by.agrees(m):
			return by
		case m.Kind.Name == cutKind && by.Kind.Name == cutKind && len(m.Fields) == 0 && len(by.Fields) > 0:
			return by
		}
	}
	return nil
}

// cutKind is a message of PyTorch of which only the beginning is there.
const cutKind = "torch_cut"

// inherit takes from an absorbed message what makes the absorber exact.
func (m *Message) inherit(other *Message) {
	for name, v := range other.Fields {
		old, there := m.Fields[name]
		// A printed size has two decimals; the product of a shape is exact.
		if name == "requested_bytes" && there && v != old && v > old-old/100 && v < old+old/100 || !there && slices.Contains(m.Kind.Fields, name) {
			m.Fields[name] = v
		}
	}
	for name, w := range other.Words {
		if m.Words[name] == "" {
			m.Words[name] = w
		}
	}
	if len(m.Before) < len(other.Before) {
		m.Before = other.Before
	}
}
