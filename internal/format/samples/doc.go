// Package samples reads and writes recordings of series.Sample: what `plimsoll
// record` keeps of machines, for days in a few megabytes.
//
// A file is a line that names the format, then frames. A frame holds the samples
// of a few seconds, of one or more hosts, as columns of differences; its header
// says from when to when, how long it is, and carries the checksums. The headers
// are the index: a reader hops from one to the next without reading what is
// between, which needs no trailer that a kill could prevent. Every so many
// minutes a frame begins a segment, which can be read without those before it;
// within a segment all frames are one zstd stream, so that short frames cost
// little.
//
// Counters and fields stand in each segment by name with their resolution: a
// reader skips those that it does not know and leaves absent those that the file
// lacks. Numbers are rounded to that resolution, which is finer than what drivers
// tell. The layout is in docs/samples-format.md.
package samples
