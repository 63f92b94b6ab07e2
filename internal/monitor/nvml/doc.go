// Package nvml reads NVIDIA GPUs through the driver's own library.
//
// The library may hang, for one GPU or for all, and a call that hangs cannot be
// ended. So each GPU has one worker: a call that does not return leaves its worker
// behind, the GPU is Stuck with its last values, and the others go on. No worker is
// replaced, so that at most one thread for each GPU and three more ever wait.
//
// A function that the library lacks would end the process if it were called, so
// each is looked up first.
package nvml

import "time"

// Options are what Open takes. The zero value is for use.
type Options struct {
	Now func() time.Time // nil means no ages of stuck values
	// Sparing is for who looks on for hours: what says the same for some seconds, and
	// who is on a GPU, is asked for at every second read, and what changes seldom half
	// as often.
	Sparing bool
}
