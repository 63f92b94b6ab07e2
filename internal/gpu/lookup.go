package gpu

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// MaxCount is the largest number of devices that a name may ask for, "h100x64".
const MaxCount = 64

// A Choice is what a name on the command line means.
type Choice struct {
	Card  Card
	Count int    // devices of this kind, 1 unless the name said so
	Note  string // which variant a bare family name was taken for, or ""

	others []Card // the variants that were not taken
}

// An AmbiguousError reports a name that several cards are equally likely
// to be meant by.
type AmbiguousError struct {
	Name       string
	Candidates []Card
}

func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("gpu %q may be any of: %s", e.Name, strings.Join(namesOf(e.Candidates), ", "))
}

// An UnknownError reports a name that no card has.
type UnknownError struct {
	Name    string
	Nearest []Card // at most three, nearest first; may be empty
}

func (e *UnknownError) Error() string {
	return fmt.Sprintf("gpu %q is not in the table", e.Name)
}

// counted is a name with a number of devices after it, "h100x8", or before it,
// "8x h100".
var counted = []struct {
	form        *regexp.Regexp
	name, count int // groups
}{
	{regexp.MustCompile(`^(.*[^\s])\s*[xX×*]\s*([0-9]{1,3})$`), 1, 2},
	{regexp.MustCompile(`^([0-9]{1,3})\s*[xX×*]\s*([^\s].*)$`), 2, 1},
}

// Lookup finds the card that a name means. It forgives case, separators, maker
// and brand, and a missing variant: "3090", "a100-80g", "H100 80GB HBM3",
// "1080ti", "h100x8". A bare family takes the table's usual variant and says so
// in the Note.
//
// The error is an *AmbiguousError, an *UnknownError, or says that the number of
// devices is out of range.
func Lookup(name string) (Choice, error) {
	choice, err := find(name)
	if err == nil {
		return choice, nil
	}
	// "rtx3090" looks counted too, so the name as a whole came first, and its
	// error stands unless the part beside the number is better.
	for _, c := range counted {
		m := c.form.FindStringSubmatch(strings.TrimSpace(name))
		if m == nil {
			continue
		}
		choice, partErr := find(m[c.name])
		if _, unknown := errors.AsType[*UnknownError](partErr); unknown {
			continue
		}
		if partErr != nil {
			return Choice{}, partErr
		}
		choice.Count, partErr = strconv.Atoi(m[c.count])
		if partErr != nil || choice.Count < 1 || choice.Count > MaxCount {
			return Choice{}, fmt.Errorf("gpu %q: the number of devices goes from 1 to %d", name, MaxCount)
		}
		return choice, nil
	}
	return Choice{}, err
}

// find is Lookup without a number of devices.
func find(name string) (Choice, error) {
	if found := byExactName(name); len(found) == 1 {
		return Choice{Card: found[0], Count: 1}, nil
	}
	words, known := wordsOf(name)
	if !known || len(significant(words)) == 0 {
		return Choice{}, &UnknownError{name, nearest(name)}
	}
	found := matches(words)
	if len(found) == 0 {
		found = begun(significant(words))
		if len(found) == 0 {
			return Choice{}, &UnknownError{name, nearest(name)}
		}
		return Choice{}, &AmbiguousError{name, found}
	}
	return choose(name, found)
}

// byExactName finds cards whose name, or name in PyTorch, is name but for case
// and separators. A name of the table goes before a name in PyTorch, which two
// cards may share.
func byExactName(name string) []Card {
	joined := strings.Join(chunks(name), "")
	for _, of := range []func(Card) string{
		func(c Card) string { return c.Name },
		func(c Card) string { return c.DeviceName },
	} {
		var found []Card
		for _, c := range table() {
			if joined != "" && strings.Join(chunks(of(c)), "") == joined {
				found = append(found, c)
			}
		}
		if len(found) > 0 {
			return found
		}
	}
	return nil
}

// matches is every card that words may name: all words of its family are
// there, and no word but noise that the card does not have; or they are an
// alias.
func matches(words []string) []Card {
	var found []Card
	for _, c := range table() {
		if covers(words, strings.Fields(c.Family)) && covers(c.known, words) || isAlias(c, significant(words)) {
			found = append(found, c)
		}
	}
	return found
}

// begun is every card of which words name a part of the family and nothing
// else: "titan".
func begun(words []string) []Card {
	var found []Card
	for _, c := range table() {
		if covers(strings.Fields(c.Family), words) {
			found = append(found, c)
		}
	}
	return found
}

// isAlias reports whether words, without noise, are one of the aliases.
func isAlias(c Card, words []string) bool {
	for _, alias := range c.Aliases {
		cut, _ := wordsOf(alias)
		cut = significant(cut)
		if covers(cut, words) && covers(words, cut) {
			return true
		}
	}
	return false
}

// covers reports whether every one of words is in set.
func covers(set, words []string) bool {
	return !slices.ContainsFunc(words, func(w string) bool { return !slices.Contains(set, w) })
}

// choose takes the preferred of several variants of one family. Cards of
// different families, or variants that are equally likely, are for the user to
// choose from.
func choose(name string, found []Card) (Choice, error) {
	slices.SortStableFunc(found, func(a, b Card) int { return cmp.Compare(a.preference, b.preference) })
	first := found[0]
	if len(found) == 1 {
		return Choice{Card: first, Count: 1}, nil
	}
	for _, c := range found[1:] {
		if c.Family != first.Family || c.preference == first.preference {
			return Choice{}, &AmbiguousError{name, found}
		}
	}
	note := fmt.Sprintf("%s is taken as %s (also: %s)", strings.TrimSpace(name), first.Name, strings.Join(namesOf(found[1:]), ", "))
	return Choice{Card: first, Count: 1, Note: note, others: found[1:]}, nil
}

func namesOf(cards []Card) []string {
	names := make([]string, len(cards))
	for i, c := range cards {
		names[i] = c.Name
	}
	return names
}
