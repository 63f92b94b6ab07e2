// Package remote watches GPUs of another host over ssh, with nothing installed
// there: one connection that stays, at the other end of which a shell runs
// nvidia-smi and reads files of /proc.
//
// What comes back is written to a folder of its own, laid out like the other host's
// /proc, which package proc reads as it reads this machine's. The other host is not
// trusted: files have the names that were asked for, and bounded sizes. Of the
// environment of processes only what names jobs and ranks leaves the host.
//
// A host that cannot be reached or does not answer is an *monitor.Unavailable for
// itself, and delays nobody else.
package remote
