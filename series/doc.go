// Package series holds what was seen of a machine over time: samples of its
// GPUs, of the processes on them and of the host.
//
// A value that could not be read is absent and says why; it is never 0. Amounts
// are in base units (bytes, seconds, watts, hertz), shares are 0 to 1.
//
// It reads nothing itself: packages under internal/monitor make samples, files
// of internal/format/samples keep them.
package series
