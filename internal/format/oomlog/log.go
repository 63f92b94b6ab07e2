// Package oomlog finds in logs what programs print when memory runs out, and
// what looks like it.
//
// A log is whatever a terminal, a container or a scheduler kept: lines are
// wrapped inside words and numbers, carry the prefixes of ranks, containers
// and clocks, and stand there several times. Messages are therefore looked for
// in text without any white space, prefixes taken off, each rank by itself.
//
// Which messages there are is a table (kinds*.go). What they mean is none of
// this package's business: that is diagnose.
package oomlog

import "github.com/plimsoll-dev/plimsoll/unit"

// A Log is what one log says about memory.
type Log struct {
	// Messages are in the order of the log, copies counted once.
	Messages []*Message
	Bytes    int64 // length of the log
	Lines    int
	// Dropped counts the messages that were left out because there were too
	// many different ones.
	Dropped int
	// Quoted is the first line that has a message's words in source code or in
	// advice, which is no message; 0 for none.
	Quoted int
	// Devices are the largest memory sizes of cards that other lines of the
	// log state, by who states them.
	Devices map[string]unit.Bytes
	// Expandable is that a line sets expandable_segments:True, which is not
	// the advice of a message.
	Expandable bool
}

// A Message is one report of exhausted memory, or of what passes for it.
type Message struct {
	Kind      *Kind
	Framework string // "pytorch-rocm"
	Version   string // range of versions that print such a message, "2.5-2.8"

	// Fields are the numbers of the message by name; those that end in
	// _bytes are bytes. A number that the message does not have is absent.
	Fields map[string]int64
	// Words are parts of the message that are no numbers, in lower case.
	Words map[string]string
	// Processes are other entries of the card's process list; SelfPID is the
	// one of them that is the failing process itself, seen from outside of
	// its container, 0 when there is none.
	Processes []Process
	SelfPID   int64

	Line   int   // first line, from 1
	Offset int64 // of that line
	Text   string
	Logger string   // what a logger or launcher put before its first line
	Before []string // lines before it, the nearest last
	After  []string // lines after it
	Count  int      // how often it stands in the log
	Ranks  []int    // that printed it, rising; empty when the log does not say
	Cut    bool     // it ends before such a message does

	// Series are the values of a message that is many lines, bytes or
	// seconds; Full is where they cannot rise any more, 0 when unknown.
	Series []float64
	Full   float64

	span     int    // where its form ends in the text of the stream
	rank     int    // -1 when unknown
	unit     string // of the last size, "gib"
	prior    string // what stands before
	next     string // what follows
	last     int64  // offset of its last line
	lastLine int
}

// A Process is one entry of the process list of a message.
type Process struct {
	PID   int64      `json:"pid"`
	Bytes unit.Bytes `json:"bytes"`
}

// Get returns a field as bytes and whether the message has it.
func (m *Message) Get(name string) (unit.Bytes, bool) {
	v, ok := m.Fields[name]
	return unit.Bytes(v), ok
}
