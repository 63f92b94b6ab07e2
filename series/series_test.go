package series

import (
	"strings"
	"testing"
)

func TestTablesAreInOrder(t *testing.T) {
	for scope, rows := range tables {
		seen := map[string]bool{}
		for i, row := range rows {
			if row.Counter.index() != i || row.Counter.Scope() != Scope(scope) {
				t.Errorf("%s stands at %d of scope %d, its constant says %d of %d", row.Name, i, scope, row.Counter.index(), row.Counter.Scope())
			}
			if seen[row.Name] {
				t.Errorf("two counters of scope %d are called %s", scope, row.Name)
			}
			seen[row.Name] = true
			if !strings.HasSuffix(row.Name, "_"+string(row.Unit)) {
				t.Errorf("%s does not end with its unit, %s", row.Name, row.Unit)
			}
			if !strings.HasSuffix(row.Help, ".") {
				t.Errorf("%s: help is no sentence: %q", row.Name, row.Help)
			}
			if c, ok := Find(Scope(scope), row.Name); !ok || c != row.Counter {
				t.Errorf("Find does not find %s", row.Name)
			}
		}
	}
}

func TestUnsetIsAbsent(t *testing.T) {
	var vs Values
	if v := vs.Get(Power); v.Status != Absent {
		t.Errorf("an unset value is %v, want absent", v.Status)
	}
	vs.Set(Power, Of(0))
	if v, ok := vs.Get(Power).Get(); !ok || v != 0 {
		t.Errorf("a zero that was read is %v, %v", v, ok)
	}
	if v := vs.Get(Busy); v.Status != Absent {
		t.Errorf("setting power makes busy %v", v.Status)
	}
	vs.Set(Busy, Without(NotSupported))
	if _, ok := vs.Get(Busy).Get(); ok {
		t.Error("a value that could not be read has a number")
	}
}

func TestReasonsHaveNames(t *testing.T) {
	seen := ThrottleReason(0)
	for _, r := range NamedReasons() {
		if seen&r.Reason != 0 || ReasonNamed(r.Name) != r.Reason {
			t.Errorf("%s is %x, and %x", r.Name, r.Reason, ReasonNamed(r.Name))
		}
		seen |= r.Reason
	}
	if seen != 0x1ff || ReasonNamed("whim") != 0 {
		t.Errorf("reasons with names: %x", seen)
	}
}
