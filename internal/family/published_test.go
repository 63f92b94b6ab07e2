package family

import (
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

func TestPublishedConfigs(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/published.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range archive.Files {
		want := strings.Fields(f.Name)
		m, err := FromConfig(f.Data, Options{})
		if err != nil {
			t.Errorf("%s: %v", f.Name, err)
			continue
		}
		if m.Family != want[0] || m.Structure != want[1] || string(m.Task) != want[2] || len(m.Warnings) > 0 {
			t.Errorf("%s: %s %s %s, warnings %v", f.Name, m.Family, m.Structure, m.Task, m.Warnings)
		}
	}
}
