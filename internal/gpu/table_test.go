package gpu

import (
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/unit"
)

func TestEveryCardHasWhatACaptureNeeds(t *testing.T) {
	seen := make(map[string]bool)
	for _, c := range All() {
		if seen[c.Name] {
			t.Errorf("%s is there twice", c.Name)
		}
		seen[c.Name] = true
		if c.Family == "" || c.preference < 1 || c.Vendor == "" {
			t.Errorf("%s: family %q, preference %d, vendor %q", c.Name, c.Family, c.preference, c.Vendor)
		}
		if c.Capturable() != nil {
			continue
		}
		if c.DeviceName == "" || c.Multiprocessors == 0 || c.MultiprocessorsSource.Title == "" {
			t.Errorf("%s: device name %q, %d multiprocessors from %q", c.Name, c.DeviceName, c.Multiprocessors, c.MultiprocessorsSource.Title)
		}
		if c.Limits.ThreadsPerMultiprocessor == 0 {
			t.Errorf("%s: no limits for compute capability %d", c.Name, c.Capability)
		}
		checkInterval(t, c.Name+": capacity", c.CapacityRange)
		checkInterval(t, c.Name+": context", c.Context)
		box := float64(c.Marketed) * 1e9 / float64(c.Capacity)
		if box < 0.92 || box > 1.18 {
			t.Errorf("%s: %d GB on the box, %v by CUDA", c.Name, c.Marketed, c.Capacity)
		}
	}
}

func checkInterval(t *testing.T, name string, i Interval) {
	t.Helper()
	if i.Low <= 0 || i.Low > i.Typical || i.Typical > i.High {
		t.Errorf("%s: %d, %d, %d are not in order", name, i.Low, i.Typical, i.High)
	}
	if i.Source.Title == "" {
		t.Errorf("%s has no source", name)
	}
}

// The recorded cases that the program is tested with name the properties they
// were made with.
func TestCardsOfTheRecordedCases(t *testing.T) {
	for name, want := range map[string]struct {
		capacity        unit.Bytes
		multiprocessors int
		device          string
		capability      int
	}{
		"A100 SXM4 80GB":   {84987740160, 108, "NVIDIA A100-SXM4-80GB", 80},
		"GeForce RTX 3090": {25436946432, 82, "NVIDIA GeForce RTX 3090", 86},
		"Tesla T4":         {15634661376, 40, "Tesla T4", 75},
	} {
		choice, err := Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		c := choice.Card
		if c.Capacity != want.capacity || c.Multiprocessors != want.multiprocessors || c.DeviceName != want.device || c.Capability != want.capability {
			t.Errorf("%s: %d bytes, %d multiprocessors, %q, capability %d; want %+v", name, c.Capacity, c.Multiprocessors, c.DeviceName, c.Capability, want)
		}
	}
}

func TestEverySpellingFindsItsCard(t *testing.T) {
	shared := make(map[string]int) // names in PyTorch that several cards have
	for _, c := range All() {
		shared[c.DeviceName]++
	}
	for _, c := range All() {
		spellings := append([]string{c.Name}, c.ShortNames()...)
		if shared[c.DeviceName] == 1 {
			spellings = append(spellings, c.DeviceName)
		}
		for _, s := range spellings {
			if got, err := Lookup(s); err != nil || got.Card.Name != c.Name {
				t.Errorf("%s: %q finds %q, %v", c.Name, s, got.Card.Name, err)
			}
		}
		if len(c.ShortNames()) == 0 {
			t.Errorf("%s has no short name", c.Name)
		}
		for _, alias := range c.Aliases {
			found, err := Find(alias)
			if err != nil || !strings.Contains(strings.Join(namesOf(found), "|"), c.Name) {
				t.Errorf("%s: alias %q finds %v, %v", c.Name, alias, namesOf(found), err)
			}
		}
	}
}

// However a name is written, it is the same card.
func TestLookupForgivesCaseAndSeparators(t *testing.T) {
	cards := All()
	rapid.Check(t, func(t *rapid.T) {
		card := cards[rapid.IntRange(0, len(cards)-1).Draw(t, "card")]
		separator := rapid.SampledFrom([]string{" ", "-", "_", "  "}).Draw(t, "separator")
		upper := rapid.Uint64().Draw(t, "upper")
		name := strings.Join(chunks(card.Name), separator)
		random := rand.New(rand.NewPCG(upper, 0))
		mixed := strings.Map(func(r rune) rune {
			if random.IntN(2) == 0 {
				return r
			}
			return []rune(strings.ToUpper(string(r)))[0]
		}, name)
		got, err := Lookup(mixed)
		if err != nil || got.Card.Name != card.Name {
			t.Fatalf("%q finds %q, %v; want %q", mixed, got.Card.Name, err, card.Name)
		}
	})
}

func FuzzLookup(f *testing.F) {
	for _, seed := range []string{"h100", "h100x8", "3090", "8x a100-80g", "x", "×3", "\xff", "4060ti", "aaaaaaaaaaaaaaaaaaaaaaaaaaaa10", " "} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) {
		choice, err := Lookup(name)
		if err != nil {
			if choice.Count != 0 || err.Error() == "" {
				t.Errorf("%q: an error with a choice: %+v", name, choice)
			}
			return
		}
		if choice.Count < 1 || choice.Count > MaxCount || choice.Card.Name == "" {
			t.Errorf("%q: %+v", name, choice)
		}
	})
}
