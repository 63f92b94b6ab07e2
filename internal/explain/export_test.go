package explain

// SetLongTape lets short tapes count as long ones until the function that it
// returns is called.
func SetLongTape(n int) (reset func()) {
	old := longTape
	longTape = n
	return func() { longTape = old }
}
