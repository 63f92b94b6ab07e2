package gpu

import (
	"strconv"
	"strings"
)

// Default reports whether the bare family name means this card.
func (c Card) Default() bool {
	choice, err := Lookup(c.Family)
	return err == nil && choice.Card.Name == c.Name
}

// ShortNames returns spellings of the card without spaces that are easy to
// type, each of which Lookup takes: "h100", "a100-40gb", "4060ti-16gb",
// "h100-nvl". The first that means this card and no other comes first.
func (c Card) ShortNames() []string {
	family := strings.ReplaceAll(c.Family, " ", "")
	spellings := []string{family}
	if c.Marketed > 0 {
		spellings = append(spellings, family+"-"+strconv.Itoa(c.Marketed)+"gb")
	}
	spellings = append(spellings, strings.Join(chunks(c.Name), "-"))
	var names []string
	for _, s := range spellings {
		if choice, err := Lookup(s); err == nil && choice.Card.Name == c.Name {
			names = append(names, s)
			if choice.Note == "" {
				break // nothing longer says more
			}
		}
	}
	return names
}
