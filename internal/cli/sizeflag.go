package cli

import "github.com/plimsoll-dev/plimsoll/unit"

// A sizeFlag is a flag that takes a memory amount, "40GiB".
type sizeFlag struct {
	Bytes unit.Bytes
	Given bool
}

// String returns the amount, "" when the flag was not given.
func (s *sizeFlag) String() string {
	if !s.Given {
		return ""
	}
	return s.Bytes.String()
}

// Set reads the amount.
func (s *sizeFlag) Set(text string) error {
	b, err := unit.Parse(text)
	if err != nil {
		return err
	}
	s.Bytes, s.Given = b, true
	return nil
}

// Type is the word that help shows for the value.
func (*sizeFlag) Type() string { return "size" }
