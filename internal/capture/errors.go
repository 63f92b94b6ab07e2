package capture

// An Error is a capture that has no answer: the script or the set-up failed.
type Error struct {
	Msg    string // one sentence, lower case, no full stop
	Hint   string // what to try; may be empty
	Output string // the end of what the script printed; may be empty
}

// Error returns the sentence.
func (e *Error) Error() string { return e.Msg }
