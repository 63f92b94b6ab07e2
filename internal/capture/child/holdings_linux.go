package child

import (
	"os"
	"time"
)

const (
	lookPeriod = 250 * time.Millisecond
	looks      = 8 // at one file, before it counts as another program's
)

// A holdings is the set of the files in /dev/shm that descendants of a process held at
// some time. A process that is gone cannot be asked, so they are looked for
// while it runs; a look costs next to nothing while /dev/shm has nothing new.
type holdings struct {
	root   int
	held   map[file]bool
	looked map[file]int
}

func newHoldings(root int) *holdings {
	return &holdings{root: root, held: map[file]bool{}, looked: map[file]int{}}
}

// follow looks until stop is closed, and closes done.
func (h *holdings) follow(stop <-chan struct{}, done chan<- struct{}) {
	defer close(done)
	tick := time.NewTicker(lookPeriod)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			h.look()
			return
		case <-tick.C:
			h.look()
		}
	}
}

// look asks the descendants about files that are not known to be theirs.
func (h *holdings) look() {
	entries, err := os.ReadDir(sharedDir)
	if err != nil {
		return
	}
	fresh := false
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !sharedNames.MatchString(e.Name()) {
			continue
		}
		if f := fileOf(info); !h.held[f] && h.looked[f] < looks {
			h.looked[f]++
			fresh = true
		}
	}
	if !fresh {
		return
	}
	for f := range shared(descendants(h.root)) {
		h.held[f] = true
	}
}
