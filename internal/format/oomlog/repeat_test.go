package oomlog

import (
	"fmt"
	"strings"
	"testing"
)

// TestRepeatsAreCountedAndOthersFound puts messages among thousands that are
// counted only.
func TestRepeatsAreCountedAndOthersFound(t *testing.T) {
	const crashes = 40_000
	other := "Out of memory: Killed process 4242 (python3) total-vm:98765432kB, anon-rss:65432100kB, file-rss:0kB"
	for name, line := range map[string]func(i int) string{
		"copies":        func(int) string { return modern },
		"other numbers": func(i int) string { return strings.Replace(modern, "8.36", fmt.Sprintf("%d.%02d", 1+i/100, i%100), 1) },
		"ranks and clocks": func(i int) string {
			return fmt.Sprintf("[rank%d]: 2026-01-02 03:%02d:%02d,%03d ERROR %s", i%8, i/60%60, i%60, i%1000, modern)
		},
	} {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			for i := range crashes {
				b.WriteString("Traceback (most recent call last):\n  File \"train.py\", line 3, in step\n    y = model(x)\n" + line(i) + "\n")
				switch i {
				case crashes / 2:
					b.WriteString(wrap(strings.Replace(modern, "GPU 1", "GPU 6", 1), 50, ""))
				case crashes - 2:
					b.WriteString("[ 1234.567890] " + other + "\n")
				}
			}
			log := scan(t, b.String())
			count, killed, wrapped := log.Dropped, 0, 0
			var ranks []int
			for _, m := range log.Messages {
				switch {
				case m.Kind.Name == "kernel_oom":
					killed++
				case m.Fields["gpu_index"] == 6:
					wrapped++
				default:
					count += m.Count
					ranks = append(ranks, m.Ranks...)
				}
			}
			full := len(log.Messages) > mostOfKind
			if full && wrapped == 0 { // it is of the kind of which there are enough
				count, wrapped = count-1, 1
			}
			if count != crashes || killed != 1 || wrapped != 1 {
				t.Errorf("%d messages of %d counted, %d of the kernel, %d wrapped", count, crashes, killed, wrapped)
			}
			if name == "ranks and clocks" && len(ranks) != 8 {
				t.Errorf("ranks %v", ranks)
			}
		})
	}
}

// TestLinesThatAreNoMessages has words of messages in every line of a healthy
// log, and one message among them.
func TestLinesThatAreNoMessages(t *testing.T) {
	var b strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&b, "step %d cudaMalloc retries: %d, CUDA OOMs: 0\n", i, i%3)
		if i == 15_000 {
			b.WriteString(wrap(modern, 60, ""))
		}
	}
	log := scan(t, b.String())
	if len(log.Messages) != 1 || log.Messages[0].Count != 1 || log.Messages[0].Cut || log.Messages[0].Line != 15_002 {
		t.Errorf("%v, %+v", names(log), log.Messages)
	}
}
