package explain

// SetLongTape lets short tapes count as long ones until the function that it
// returns is called.
func SetLongTape(n int) (reset func()) {
	old := longTape
	longTape = n
	return func() { longTape = old }
}

// WithoutSplits are the changes of max_split_size_mb that are not replayed since
// they cannot have an effect: their peaks and driver calls when they are, and
// those of the unchanged replay.
func (e *Explanation) WithoutSplits() (got, want [][2]int64) {
	p := &player{r: e.recording, s: e.recording.Settings, room: e.Check.Room, largest: e.Levels.largest}
	for _, c := range p.settingChanges() {
		if !c.same {
			continue
		}
		unchanged, _, _ := p.play(c)
		c.same = false
		d, _, _ := p.play(c)
		got = append(got, [2]int64{int64(d.Peak.Reserved), d.DriverCalls()})
		want = append(want, [2]int64{int64(unchanged.Peak.Reserved), unchanged.DriverCalls()})
	}
	return got, want
}
