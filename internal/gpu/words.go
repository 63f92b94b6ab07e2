package gpu

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// noise are words that any spelling may have and that distinguish nothing,
// since people put any of NVIDIA's brands before any of its cards.
var noise = []string{"nvidia", "geforce", "gpu", "graphics", "card", "generation", "edition", "rtx", "gtx", "tesla", "quadro"}

// size is a memory size as people write it, after lower case: "80gb", "80g".
var size = regexp.MustCompile(`^([1-9][0-9]{0,2})(g|gb|gib)$`)

// vocabulary is every word of the table, longest first, so that a run of
// letters and digits can be cut into words: "rtx3090ti" is rtx, 3090, ti.
var vocabulary = sync.OnceValue(func() []string {
	var words []string
	for _, c := range table() {
		words = append(words, c.known...)
	}
	slices.SortFunc(words, func(a, b string) int {
		if d := len(b) - len(a); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	return slices.Compact(words)
})

// knownWords is every word that a spelling of the card may have.
func knownWords(c Card) []string {
	words := append(strings.Fields(c.Family), noise...)
	for _, text := range append([]string{c.Name, c.DeviceName, c.Arch, c.Vendor, c.MemoryType}, c.Aliases...) {
		words = append(words, chunks(text)...)
	}
	words = append(words, c.words...)
	for i, w := range words {
		words[i] = canonical(w)
	}
	slices.Sort(words)
	return slices.Compact(words)
}

// chunks lower-cases text and cuts it at everything but letters and digits.
func chunks(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
}

// canonical writes a memory size one way.
func canonical(word string) string {
	if m := size.FindStringSubmatch(word); m != nil {
		return m[1] + "gb"
	}
	return word
}

// wordsOf cuts a name into words. Where a chunk is none of the known words it
// is cut further; when that fails, the chunks are joined and cut anew, so that
// "h 100" and "RTX 40 90" are found too. The second result is false when some
// part is no known word; the words are then the chunks as they stand.
func wordsOf(name string) (words []string, known bool) {
	parts := chunks(name)
	for _, part := range parts {
		cut, ok := cutWord(part)
		if !ok {
			if cut, ok = cutWord(strings.Join(parts, "")); ok {
				return cut, true
			}
			return parts, false
		}
		words = append(words, cut...)
	}
	return words, len(words) > 0
}

// longestName bounds what cutWord looks at; no card's name comes near.
const longestName = 100

// cutWord cuts a run of letters and digits into known words and sizes, longest
// words first.
func cutWord(run string) ([]string, bool) {
	if len(run) > longestName {
		return nil, false
	}
	return cutFrom(run, make(map[string]bool))
}

// cutFrom is cutWord with the tails that are known to lead nowhere.
func cutFrom(run string, dead map[string]bool) ([]string, bool) {
	if run == "" {
		return nil, true
	}
	if dead[run] {
		return nil, false
	}
	for _, head := range headsOf(run) {
		if rest, ok := cutFrom(run[len(head):], dead); ok {
			return append([]string{canonical(head)}, rest...), true
		}
	}
	dead[run] = true
	return nil, false
}

// headsOf is every known word that run begins with, longest first.
func headsOf(run string) []string {
	var heads []string
	for n := min(len(run), 6); n >= 2; n-- { // "141gib"
		if size.MatchString(run[:n]) {
			heads = append(heads, run[:n])
		}
	}
	for _, word := range vocabulary() {
		if strings.HasPrefix(run, word) {
			heads = append(heads, word)
		}
	}
	slices.SortStableFunc(heads, func(a, b string) int { return len(b) - len(a) })
	return heads
}

// significant drops the words that distinguish nothing.
func significant(words []string) []string {
	return slices.DeleteFunc(slices.Clone(words), func(w string) bool { return slices.Contains(noise, w) })
}
