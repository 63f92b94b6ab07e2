package catalog

import "testing"

func TestMultipleOf(t *testing.T) {
	trained := []int64{6, 6, 1000, 24}
	for name, c := range map[string]struct {
		sizes []int64
		want  multiple
	}{
		"nothing":                          {nil, multiple{}},
		"a copy in 4 bytes":                {[]int64{24, 4000, 24, 96}, multiple{element: 4}},
		"two moments and counts of steps":  {[]int64{4, 24, 24, 4, 24, 24, 4, 4000, 4000, 4, 96, 96}, multiple{element: 8, tensor: 4}},
		"copies in 1 and in 4 bytes":       {[]int64{6, 24, 6, 24, 1000, 4000, 24, 96}, multiple{element: 5}},
		"a copy and something else":        {[]int64{24, 24, 4000, 96, 17}, multiple{element: 4, other: 17}},
		"two buckets of all":               {[]int64{4024, 120}, multiple{element: 4}},
		"what follows another rule":        {[]int64{24, 24, 1016, 96}, multiple{other: 1160}},
		"as many of one size as there are": {[]int64{100, 100, 100, 100}, multiple{other: 400}},
	} {
		if got := multipleOf(trained, c.sizes); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
	if got := multipleOf(nil, []int64{512}); got != (multiple{other: 512}) {
		t.Errorf("where nothing is trained: %+v", got)
	}
}
