package gpu

// Find returns every card that a name may mean, in the table's order: all
// variants of a family, or one. A number of devices in the name is ignored.
// The error is an *UnknownError.
func Find(name string) ([]Card, error) {
	choice, err := Lookup(name)
	switch err := err.(type) {
	case nil:
		if choice.Note == "" {
			return []Card{choice.Card}, nil
		}
		return ordered(append(choice.others, choice.Card)), nil
	case *AmbiguousError:
		return ordered(err.Candidates), nil
	default:
		return nil, err
	}
}

// ordered sorts cards as the table does.
func ordered(cards []Card) []Card {
	wanted := make(map[string]bool, len(cards))
	for _, c := range cards {
		wanted[c.Name] = true
	}
	var found []Card
	for _, c := range table() {
		if wanted[c.Name] {
			found = append(found, c)
		}
	}
	return found
}
