package spelling

import "testing"

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"gpt2", "gpt2", 0},
		{"lama", "llama", 1}, {"3090", "3080", 1}, {"kitten", "sitting", 3},
		{"gtp2", "gpt2", 1}, {"ab", "ba", 1}, {"abc", "cba", 2}, {"ca", "abc", 3},
	} {
		if got := Distance(c.a, c.b); got != c.want {
			t.Errorf("Distance(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
