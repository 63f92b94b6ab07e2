package proc

import (
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// A file of the host that stays open is read to its end, and anew each time.
func TestKeptFileIsWhole(t *testing.T) {
	fd, err := unix.Open("/", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	root := folder{fd: fd, kept: map[string]int{}, buf: make([]byte, 64)}
	defer root.close()
	for range 3 {
		want, err := os.ReadFile("/proc/vmstat")
		if err != nil {
			t.Skip(err)
		}
		got, err := root.read("proc/vmstat")
		if err != nil {
			t.Fatal(err)
		}
		last := func(b []byte) string { // names do not change, numbers do
			lines := strings.Split(strings.TrimSpace(string(b)), "\n")
			name, _, _ := strings.Cut(lines[len(lines)-1], " ")
			return name
		}
		if last(got) != last(want) || strings.Count(string(got), "\n") != strings.Count(string(want), "\n") {
			t.Errorf("read %d bytes that end with %s, there are %d that end with %s", len(got), last(got), len(want), last(want))
		}
	}
}
