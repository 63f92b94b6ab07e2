package main

// A script is one published script and how it is started.
type script struct {
	name    string
	repo    string     // owner and name at GitHub
	dir     string     // the folder in the checkout that it is started in
	make    []file     // data to make, by paths relative to dir
	setup   [][]string // commands that make more data, run as command is, but without a capture
	flags   []string   // of plimsoll capture, beside the card
	command []string   // the first word python is the interpreter's path
	env     []string   // NAME=VALUE; $CHECKOUT is the copy's path
	steps   int        // optimizer steps to be seen; 0 is the default's
	limit   string     // what is known not to work, if it does not
	fails   string     // what the failure for that says
}

// A file is a file, or a folder of files, that a script reads.
type file struct {
	path string
	make func(path string) error
}

// least is how many steps the answer must have.
func (s script) least() int {
	if s.steps == 0 {
		return 3
	}
	return s.steps
}
