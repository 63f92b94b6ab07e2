package diagnose

import (
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/unit"
)

func number(n int64) string { return strconv.FormatInt(n, 10) }

// fine writes a size with the two decimals that messages have, so that sums
// can be checked against them.
func fine(b unit.Bytes) string {
	c := unit.NewColumn(b).AtLeast(2)
	return c.Format(b)
}

// Sum writes a balance as an equation in one unit: "23.64 GiB = 18.70 live
// tensors + ...". Rounding may leave a hundredth.
func (b *Balance) Sum() string {
	c := unit.NewColumn(b.Total).AtLeast(2)
	var parts []string
	for _, p := range b.Parts {
		parts = append(parts, c.Number(p.Bytes)+" "+p.Name)
	}
	return c.Format(b.Total) + " = " + strings.Join(parts, " + ")
}

// times is how many times b is of a: "2.8".
func times(b, a unit.Bytes) string {
	if a <= 0 {
		return "many"
	}
	return strconv.FormatFloat(float64(b)/float64(a), 'f', 1, 64)
}

// percent is a share in words: "62 %", "0.4 %".
func percent(share float64) string {
	digits := 0
	if share < 0.01 && share > 0 {
		digits = 1
	}
	return strconv.FormatFloat(100*share, 'f', digits, 64) + " %"
}

// gpu is "GPU 1", or "the GPU" when the message does not say which.
func (s *situation) gpu() string {
	if n, there := s.m.Fields["gpu_index"]; there {
		return "GPU " + number(n)
	}
	return "the GPU"
}
