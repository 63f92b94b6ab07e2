package pattern

import (
	"runtime"
	"testing"
)

func TestPatternIsCompiledWhenAsked(t *testing.T) {
	New("(") // is none, and nobody asks
	p := New(`(\w+)=(\d+)`)
	if m := p.FindStringSubmatch("a=1 b=2"); len(m) != 3 || m[1] != "a" || m[2] != "1" {
		t.Errorf("found %q", m)
	}
	if got := p.ReplaceAllString("a=1 b=2", "$2"); got != "1 2" {
		t.Errorf("replaced: %q", got)
	}
	defer func() {
		if recover() == nil {
			t.Error("a text that is no pattern was asked without a panic")
		}
	}()
	New("(").MatchString("")
}

func BenchmarkNew(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		runtime.KeepAlive(New(`^[A-Za-z0-9_][A-Za-z0-9_.@/+-]{0,127}$`))
	}
}
