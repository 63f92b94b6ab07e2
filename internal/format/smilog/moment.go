package smilog

import (
	"strconv"
	"strings"
	"time"
)

// layouts are the forms of times, of those that say their order; a comma may stand
// before the fraction of a second.
var layouts = []string{
	"2006/01/02 15:04:05", "2006-01-02 15:04:05", "2006/01/02 15:04", "2006-01-02 15:04",
	time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05Z07:00", "20060102 15:04:05",
	"02.01.2006 15:04:05", "2.1.2006 15:04:05", "02.01.2006 15:04", "Mon Jan 2 15:04:05 2006", "Mon Jan _2 15:04:05 2006",
}

// Layouts of dates with slashes whose order only a day above 12 tells.
var (
	monthFirst = []string{"1/2/2006 15:04:05", "1/2/2006 15:04", "1/2/2006 3:04:05 PM", "1/2/2006 3:04 PM"}
	dayFirst   = []string{"2/1/2006 15:04:05", "2/1/2006 15:04", "2/1/2006 3:04:05 PM", "2/1/2006 3:04 PM"}
)

// A clock reads the times of a log.
type clock struct {
	layout string // the last that fitted
	days   bool   // a day stood first
}

// read is the time that text says, zero where it says none.
func (c *clock) read(text string) time.Time {
	text = strings.Trim(strings.TrimSpace(text), `"`)
	if c.layout != "" {
		if t, err := time.Parse(c.layout, text); err == nil {
			return t
		}
	}
	try := func(list []string) time.Time {
		for _, l := range list {
			if t, err := time.Parse(l, text); err == nil {
				c.layout = l
				return t
			}
		}
		return time.Time{}
	}
	if t := try(layouts); !t.IsZero() {
		return t
	}
	order := [][]string{monthFirst, dayFirst}
	if c.days {
		order = [][]string{dayFirst, monthFirst}
	}
	for i, list := range order {
		if t := try(list); !t.IsZero() {
			c.days = c.days || i == 1
			return t
		}
	}
	return epoch(text)
}

// epoch reads seconds or milliseconds since 1970.
func epoch(text string) time.Time {
	v, err := strconv.ParseFloat(strings.Replace(text, ",", ".", 1), 64)
	switch {
	case err != nil || v < 1e9 || v > 1e14:
		return time.Time{}
	case v > 1e11:
		return time.UnixMilli(int64(v)).UTC()
	}
	return time.UnixMicro(int64(v * 1e6)).UTC()
}
