// Package formula makes a symbolic tape of a user's script: it captures the
// script at several values of what the user varies, and has the recordings
// solved for these.
//
// Values that the solution does not see check it. What cannot be solved is told
// with the line that it is from; a solution that is far off is refused.
package formula
