package cli

import (
	"strings"
	"testing"
)

// Only files that nobody can write to are unmapped: what a process wrote is nowhere
// else.
func TestMappingsThatAreUnmapped(t *testing.T) {
	for line, want := range map[string]mapping{
		"00418000-01225000 r-xp 00018000 fe:00 123 /usr/bin/plimsoll":     {0x418000, 0x1225000},
		"027f7000-0291c000 rw-p 023f7000 fe:00 123 /usr/bin/plimsoll":     {},
		"7fdc82cbf000-7fdc82e0f000 rw-p 00000000 00:00 0":                 {},
		"7fdc82cbf000-7fdc82e0f000 r-xp 00000000 00:00 0 [vdso]":          {},
		"zz-7fdc82e0f000 r--p 00000000 fe:00 9 /usr/lib/libc.so.6":        {},
		"02000000-01000000 r--p 00000000 fe:00 9 /usr/lib/libc.so.6":      {},
		"7f000000-7f100000 r--s 00000000 fe:00 9 /usr/lib/locale-archive": {0x7f000000, 0x7f100000},
	} {
		if got := mappingOf(strings.Fields(line)); got != want {
			t.Errorf("%s: %x, want %x", line, got, want)
		}
	}
}
