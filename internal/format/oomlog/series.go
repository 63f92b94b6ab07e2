package oomlog

import (
	"strconv"
	"strings"
	"time"

	"github.com/plimsoll-dev/plimsoll/internal/pattern"
)

// A series is numbers from lines that repeat.
type series struct {
	samples []sample
	offset  int64
	line    int
	text    []string
}

type sample struct {
	value float64
	total float64
	clock time.Time // zero when the line has none
}

const (
	mostSamples = 10000
	leastSeries = 4
)

var (
	shmLine    = pattern.New(`^\S+\s+([\d.]+)([KMGT]?)\s+([\d.]+)([KMGT]?)\s+\S+\s+\d+%\s+/dev/shm`)
	timingLine = pattern.New(`^\s*([\d.]+) ?s from start`)
	// adviceBefore ends a line of advice that a terminal wrapped.
	adviceBefore = pattern.New(`(?i)\b(?:setting|set|try|use|using|with|via)$`)
	// settingLine is a line that is a setting: nothing stands before it but
	// a prompt, the words that set variables, and other settings. Advice has
	// words before it.
	settingLine = pattern.New(`^(?:\S*[$#%]\s+|\++\s*|export\s+|set\s+|env\s+|ENV\s+|-e\s+|declare -x\s+|[A-Za-z_]\w*=\S*\s+|os\.environ\[|- name:\s*)*["']?PYTORCH_(?:CUDA_|HIP_)?ALLOC_CONF["'\]]*\s*[=:]\s*["']?\S*expandable_segments:True`)
	clockLine   = pattern.New(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d`)
)

// follow takes lines of series and settings from a stream.
func (c *collector) follow(s *stream, from, until int64) {
	for i, l := range s.lines {
		if l.offset < from || l.offset >= until {
			continue
		}
		switch {
		case strings.Contains(l.body, "expandable_segments:True"):
			c.log.Expandable = c.log.Expandable || settingLine.MatchString(l.body) && (i == 0 || !adviceBefore.MatchString(s.lines[i-1].body))
		case strings.Contains(l.body, "/dev/shm"):
			if at := shmLine.FindStringSubmatch(l.body); at != nil {
				c.told[l.offset] = nil
				c.shm.add(l, sample{amountOf(at[3], at[4]), amountOf(at[1], at[2]), clockBefore(s.lines[:i])})
			}
		case strings.Contains(l.body, "from start"):
			if at := timingLine.FindStringSubmatch(l.body); at != nil {
				v, _ := strconv.ParseFloat(at[1], 64)
				c.told[l.offset] = nil
				c.timing.add(l, sample{value: v})
			}
		}
	}
}

func (s *series) add(l line, v sample) {
	if len(s.samples) == 0 {
		s.offset, s.line = l.offset, l.number
	}
	if len(s.samples) < mostSamples {
		s.samples = append(s.samples, v)
		s.text = append(s.text, l.body)
	}
}

// clockBefore is the time in the line before, such as that of date(1).
func clockBefore(lines []line) time.Time {
	if len(lines) == 0 {
		return time.Time{}
	}
	at := clockLine.FindString(lines[len(lines)-1].body)
	t, err := time.Parse(time.DateTime, strings.Replace(at, "T", " ", 1))
	if err != nil {
		return time.Time{}
	}
	return t
}

// amountOf is a size as df -h prints it.
func amountOf(digits, prefix string) float64 {
	v, _ := strconv.ParseFloat(digits, 64)
	for _, p := range "KMGT" {
		if prefix == "" {
			break
		}
		v *= 1024
		if string(p) == prefix {
			break
		}
	}
	return v
}

// addSeries makes messages of series that say something.
func (c *collector) addSeries() {
	if s := &c.shm; len(s.samples) >= leastSeries && s.grows() {
		m := s.message("shm_series")
		if step := s.interval(); step > 0 {
			m.Fields["interval_s"] = step
		}
		m.Full = s.samples[len(s.samples)-1].total
		c.log.Messages = append(c.log.Messages, m)
	}
	if s := &c.timing; len(s.samples) >= leastSeries {
		if workers, ok := s.bursts(); ok {
			m := s.message("util_timing")
			m.Fields["workers"] = int64(workers)
			c.log.Messages = append(c.log.Messages, m)
		}
	}
}

func (s *series) message(name string) *Message {
	m := &Message{
		Fields: map[string]int64{"samples": int64(len(s.samples))}, Words: map[string]string{}, Line: s.line, Offset: s.offset, Count: 1,
		Text: shorten(strings.Join(s.text, "\n")), rank: -1,
	}
	for _, v := range s.samples {
		m.Series = append(m.Series, v.value)
	}
	for i := range kinds {
		if kinds[i].Name == name {
			m.Kind, m.Framework, m.Version = &kinds[i], kinds[i].Framework, kinds[i].Versions
		}
	}
	return m
}

// grows reports that the values rise all the time.
func (s *series) grows() bool {
	for i := 1; i < len(s.samples); i++ {
		if s.samples[i].value < s.samples[i-1].value {
			return false
		}
	}
	return s.samples[len(s.samples)-1].value > 2*s.samples[0].value
}

// interval is the seconds between samples when all lines have a clock and it
// is the same, else 0.
func (s *series) interval() int64 {
	step := time.Duration(0)
	for i := 1; i < len(s.samples); i++ {
		a, b := s.samples[i-1].clock, s.samples[i].clock
		if a.IsZero() || b.IsZero() {
			return 0
		}
		if d := b.Sub(a); step == 0 {
			step = d
		} else if d < step-time.Second || d > step+time.Second {
			return 0
		}
	}
	return int64(step / time.Second)
}

// bursts reports how many values come together where all come so: close ones
// are a tenth of the usual distance apart.
func (s *series) bursts() (size int, ok bool) {
	span := s.samples[len(s.samples)-1].value - s.samples[0].value
	if span <= 0 {
		return 0, false
	}
	sizes := []int{1}
	for i := 1; i < len(s.samples); i++ {
		d := s.samples[i].value - s.samples[i-1].value
		if d < 0 {
			return 0, false
		}
		if d <= span/float64(len(s.samples)) {
			sizes[len(sizes)-1]++
		} else {
			sizes = append(sizes, 1)
		}
	}
	for _, n := range sizes {
		if n != sizes[0] || n < 2 {
			return 0, false
		}
	}
	return sizes[0], len(sizes) > 1
}
