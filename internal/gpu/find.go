package gpu

import "errors"

// Find returns every card that a name may mean, in the table's order: all
// variants of a family, or one. A number of devices in the name is ignored.
// The error is an *UnknownError.
func Find(name string) ([]Card, error) {
	choice, err := Lookup(name)
	if ambiguous, ok := errors.AsType[*AmbiguousError](err); ok {
		return ordered(ambiguous.Candidates), nil
	}
	if err != nil {
		return nil, err
	}
	return ordered(append(choice.others, choice.Card)), nil
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
