//go:build unix

package html

import (
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/chromium"
	"github.com/plimsoll-dev/plimsoll/internal/report"
	"github.com/plimsoll-dev/plimsoll/internal/report/corpus"
)

// save writes the page of a report to a file of the test, and returns its address.
func save(t *testing.T, r *report.Report) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(file, []byte(render(t, r)), 0o644); err != nil {
		t.Fatal(err)
	}
	return (&url.URL{Scheme: "file", Path: file}).String()
}

// shoot saves a picture when PLIMSOLL_SHOTS names a folder to look at them.
func shoot(t *testing.T, b chromium.Tab, name string) {
	t.Helper()
	folder := os.Getenv("PLIMSOLL_SHOTS")
	if folder == "" {
		return
	}
	data, err := b.Picture(true)
	b.Must(err)
	b.Must(os.WriteFile(filepath.Join(folder, strings.ReplaceAll(name, " ", "-")+".png"), data, 0o644))
}

func TestBrowserShowsEveryReport(t *testing.T) {
	b := chromium.Test(t)
	for _, e := range corpus.All() {
		b.Must(b.Open(save(t, e.Report)))
		if got := b.Value("document.querySelector('h1')?.innerText ?? ''"); got != e.Report.Verdict.Word {
			t.Errorf("%s: the verdict reads %q, want %q", e.Name, got, e.Report.Verdict.Word)
		}
		if got := b.Value("document.documentElement.dataset.ready ?? ''"); (got == "yes") != (len(e.Report.Timelines) > 0) {
			t.Errorf("%s: the chart is ready: %q", e.Name, got)
		}
		if got := b.Value("document.title"); got == "owned" {
			t.Errorf("%s: a script of the report ran", e.Name)
		}
		for _, width := range []int{360, 800, 1400} {
			b.Must(b.Resize(width, 1000))
			if over := b.Value("document.documentElement.scrollWidth - innerWidth"); over != "0" && !strings.HasPrefix(over, "-") {
				t.Errorf("%s at %d pixels: %s pixels too wide", e.Name, width, over)
			}
			shoot(t, b, e.Name+" "+strconv.Itoa(width)+" light")
		}
		b.Must(b.Scheme("dark"))
		shoot(t, b, e.Name+" dark")
		b.Must(b.Scheme("light"))
		check(t, b, e.Name)
	}
}

// check demands that the page asked for nothing and complained of nothing.
func check(t *testing.T, b chromium.Tab, name string) {
	t.Helper()
	for _, c := range b.Complaints() {
		t.Errorf("%s: %s", name, c)
	}
	for _, r := range b.Requests() {
		if !strings.HasPrefix(r, "file://") || !strings.HasSuffix(r, "/report.html") {
			t.Errorf("%s: the page asked for %s", name, r)
		}
	}
}

func TestPolicyStopsScriptsOfOthers(t *testing.T) {
	b := chromium.Test(t)
	b.Must(b.Open(save(t, corpus.Fits())))
	b.Value("{ const s = document.createElement('script'); s.textContent = 'document.title = \"owned\"'; document.body.append(s); }")
	if got := b.Value("document.title"); got == "owned" {
		t.Error("a script that is not ours ran")
	}
}

// chartPlace is a point of the canvas in the page, in shares of it.
func chartPlace(b chromium.Tab, across, down float64) (x, y float64) {
	at := func(side, size string, share float64) float64 {
		v, _ := strconv.ParseFloat(b.Value("(() => { const r = document.getElementById('canvas').getBoundingClientRect(); return r."+
			side+" + r."+size+" * "+strconv.FormatFloat(share, 'f', 4, 64)+" })()"), 64)
		return v
	}
	return at("left", "width", across), at("top", "height", down)
}

const (
	momentOf  = "document.getElementById('moment').innerText"
	rowsOf    = "[...document.querySelectorAll('#layers tbody tr')].map((r) => r.cells[0].innerText).join('|')"
	zoomedOf  = "!document.getElementById('reset').hidden"
	chosenOf  = "document.querySelector('#views [aria-checked=true]').innerText"
	tipOf     = "document.getElementById('tip').hidden ? '' : document.getElementById('tip').innerText"
	sliderNow = "document.getElementById('canvas').getAttribute('aria-valuetext')"
)

func TestBrowserMouse(t *testing.T) {
	b := chromium.Test(t)
	mouse := func(kind string, x, y float64, more map[string]any) {
		b.Must(b.Mouse(kind, x, y, more))
		b.Must(b.Settle())
	}
	b.Must(b.Resize(1400, 1200))
	b.Must(b.Open(save(t, corpus.Fits())))
	b.Must(b.Settle())
	if got := b.Value(momentOf); !strings.HasPrefix(got, "Live at the peak") {
		t.Errorf("the page opens at %q", got)
	}
	x, y := chartPlace(b, 0.5, 0.5)
	mouse("mouseMoved", x, y, nil)
	if got := b.Value(tipOf); !strings.Contains(got, "activations") || !strings.Contains(got, "GiB") {
		t.Errorf("the tip reads %q", got)
	}
	shoot(t, b, "hover")
	left := map[string]any{"button": "left", "clickCount": 1}
	mouse("mousePressed", x, y, left)
	mouse("mouseReleased", x, y, left)
	if got := b.Value(momentOf); strings.HasPrefix(got, "Live at the peak") {
		t.Errorf("after a click the moment is still %q", got)
	}
	mouse("mouseWheel", x, y, map[string]any{"deltaX": 0, "deltaY": -240})
	if b.Value(zoomedOf) != "true" {
		t.Error("the wheel does not zoom")
	}
	b.Value("document.getElementById('reset').click()")
	if b.Value(zoomedOf) != "false" {
		t.Error("the whole run does not come back")
	}
	x2, _ := chartPlace(b, 0.7, 0.5)
	mouse("mousePressed", x, y, left)
	mouse("mouseMoved", x2, y, map[string]any{"button": "left", "buttons": 1})
	shoot(t, b, "brush")
	mouse("mouseReleased", x2, y, left)
	if b.Value(zoomedOf) != "true" {
		t.Error("dragging does not zoom")
	}
	shoot(t, b, "zoomed")
	check(t, b, "mouse")
}

func TestBrowserKeysAndSearch(t *testing.T) {
	b := chromium.Test(t)
	b.Must(b.Resize(1400, 1200))
	b.Must(b.Open(save(t, corpus.Fits())))
	b.Value("document.getElementById('canvas').focus()")
	first := b.Value(sliderNow)
	b.Must(b.Key("ArrowRight"))
	if got := b.Value(sliderNow); got == first {
		t.Errorf("the arrow does not move from %q", first)
	}
	b.Must(b.Key("p"))
	if got := b.Value(sliderNow); got != first {
		t.Errorf("p leads to %q, want %q", got, first)
	}
	b.Must(b.Key("+"))
	if b.Value(zoomedOf) != "true" {
		t.Error("+ does not zoom")
	}
	b.Must(b.Key("0"))
	b.Must(b.Key("v"))
	if got := b.Value(chosenOf); got != "by module" {
		t.Errorf("v shows %q", got)
	}
	shoot(t, b, "by module")
	b.Must(b.Key("v"))
	b.Must(b.Key("/"))
	b.Must(b.Type("model.py"))
	for row := range strings.SplitSeq(b.Value(rowsOf), "|") {
		if !strings.Contains(row, "model.py") {
			t.Errorf("the search leaves %q", row)
		}
	}
	shoot(t, b, "search")
	check(t, b, "keys")
}
