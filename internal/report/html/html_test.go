package html

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-dev/plimsoll/internal/report"
	"github.com/plimsoll-dev/plimsoll/internal/report/corpus"
)

var update = flag.Bool("update", os.Getenv("PLIMSOLL_UPDATE") != "", "rewrite the golden files")

func render(t *testing.T, r *report.Report) string {
	t.Helper()
	var out bytes.Buffer
	if err := Render(&out, r, report.Options{}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// embedded are the parts of a page that are not facts of the report: they
// have files of their own, and the data is tested below.
var embedded = regexp.MustCompile(`(?s)(<style>).*?(</style>)|(<script[^>]*>).*?(</script>)|(sha256-).*?(&#39;)`)

func TestGolden(t *testing.T) {
	for _, e := range corpus.All() {
		t.Run(e.Name, func(t *testing.T) {
			got := embedded.ReplaceAllString(render(t, e.Report), "$1$3$5…$2$4$6")
			file := filepath.Join("testdata", e.Name+".html")
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("%s differs (-want +got), -update rewrites it:\n%s", file, diff)
			}
		})
	}
}

var dataElement = regexp.MustCompile(`(?s)<script type="application/json" id="data">(.*?)</script>`)

// sums undoes deltas.
func sums(deltas []int64) []int64 {
	var sum int64
	out := []int64{}
	for _, d := range deltas {
		sum += d
		out = append(out, sum)
	}
	return out
}

func TestDataIsTheTimeline(t *testing.T) {
	for _, e := range corpus.All() {
		m := dataElement.FindStringSubmatch(render(t, e.Report))
		if m == nil {
			if len(e.Report.Timelines) > 0 {
				t.Errorf("%s: no data in the page", e.Name)
			}
			continue
		}
		var c chart
		if err := json.Unmarshal([]byte(m[1]), &c); err != nil {
			t.Fatalf("%s: %v", e.Name, err)
		}
		for i, line := range e.Report.Timelines {
			got := c.Timelines[i]
			want := []int64{}
			for _, b := range line.Allocated {
				want = append(want, int64(b))
			}
			if diff := cmp.Diff(want, sums(got.Allocated)); diff != "" {
				t.Errorf("%s: allocated (-want +got):\n%s", e.Name, diff)
			}
			if got.Name != report.Printable(line.Name) || got.Capacity != int64(line.Capacity) || len(got.Views) != len(line.Views) {
				t.Errorf("%s: timeline %d is another one", e.Name, i)
			}
		}
	}
}

func TestNothingBreaksOutOfThePage(t *testing.T) {
	out := render(t, corpus.Hostile())
	if n := strings.Count(out, "<script"); n != 2 {
		t.Errorf("the page has %d script elements, want 2", n)
	}
	if strings.Contains(out, "<img") {
		t.Error("an element of the report's text is in the page")
	}
	for _, r := range "\u202e\u200b\u2028\x1b\x07\x00\u009b" {
		if strings.ContainsRune(out, r) {
			t.Errorf("%q is in the page", r)
		}
	}
	if !strings.Contains(out, "&lt;/script&gt;&lt;script&gt;") {
		t.Error("the hostile text is not shown as text")
	}
}

func TestPageAsksForNothing(t *testing.T) {
	for _, e := range corpus.All() {
		out := render(t, e.Report)
		for _, s := range []string{" src=\"", "<link", "@import", "url(", "fetch(", "XMLHttpRequest", "innerHTML", "eval("} {
			if e.Name != "hostile" && strings.Contains(out, s) {
				t.Errorf("%s: the page has %s", e.Name, s)
			}
		}
	}
}

func TestRenderDoesNotChangeTheReport(t *testing.T) {
	r, same := corpus.Hostile(), corpus.Hostile()
	render(t, r)
	if diff := cmp.Diff(same, r); diff != "" {
		t.Errorf("the report changed (-before +after):\n%s", diff)
	}
}
