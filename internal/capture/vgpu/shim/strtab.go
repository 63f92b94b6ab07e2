package shim

// strtab is a table of zero-terminated strings, each kept once.
type strtab struct {
	text []byte
	at   map[string]uint32
}

// add returns the offset of a string.
func (s *strtab) add(text string) uint32 {
	if s.at == nil {
		s.at, s.text = map[string]uint32{"": 0}, []byte{0}
	}
	if at, ok := s.at[text]; ok {
		return at
	}
	at := uint32(len(s.text))
	s.at[text] = at
	s.text = append(append(s.text, text...), 0)
	return at
}

// sysvHash is the hash of names in DT_HASH and in version definitions.
func sysvHash(name string) uint32 {
	var h uint32
	for i := range len(name) {
		h = h<<4 + uint32(name[i])
		high := h & 0xf0000000
		h ^= high >> 24
		h &^= high
	}
	return h
}
