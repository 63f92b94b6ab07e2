//go:build unix

package html

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/report"
	"github.com/plimsoll-dev/plimsoll/internal/report/corpus"
)

// save writes the page of a report to a file of the test.
func save(t *testing.T, r *report.Report) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(file, []byte(render(t, r)), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestBrowserShowsEveryReport(t *testing.T) {
	b := openBrowser(t)
	for _, e := range corpus.All() {
		b.open(save(t, e.Report))
		if got := b.eval("document.querySelector('h1')?.innerText ?? ''"); got != e.Report.Verdict.Word {
			t.Errorf("%s: the verdict reads %q, want %q", e.Name, got, e.Report.Verdict.Word)
		}
		if got := b.eval("document.documentElement.dataset.ready ?? ''"); (got == "yes") != (len(e.Report.Timelines) > 0) {
			t.Errorf("%s: the chart is ready: %q", e.Name, got)
		}
		if got := b.eval("document.title"); got == "owned" {
			t.Errorf("%s: a script of the report ran", e.Name)
		}
		for _, width := range []int{360, 800, 1400} {
			b.resize(width, 1000)
			if over := b.eval("document.documentElement.scrollWidth - innerWidth"); over != "0" && !strings.HasPrefix(over, "-") {
				t.Errorf("%s at %d pixels: %s pixels too wide", e.Name, width, over)
			}
			b.shoot(e.Name + " " + strconv.Itoa(width) + " light")
		}
		b.scheme("dark")
		b.shoot(e.Name + " dark")
		b.scheme("light")
		check(t, b, e.Name)
	}
}

// check demands that the page asked for nothing and complained of nothing.
func check(t *testing.T, b *browser, name string) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range b.complaints {
		t.Errorf("%s: %s", name, c)
	}
	for _, r := range b.requests {
		if !strings.HasPrefix(r, "file://") || !strings.HasSuffix(r, "/report.html") {
			t.Errorf("%s: the page asked for %s", name, r)
		}
	}
}

func TestPolicyStopsScriptsOfOthers(t *testing.T) {
	b := openBrowser(t)
	b.open(save(t, corpus.Fits()))
	b.eval("{ const s = document.createElement('script'); s.textContent = 'document.title = \"owned\"'; document.body.append(s); }")
	if got := b.eval("document.title"); got == "owned" {
		t.Error("a script that is not ours ran")
	}
}

// chartPlace is a point of the canvas in the page, in shares of it.
func chartPlace(b *browser, across, down float64) (x, y float64) {
	at := func(side, size string, share float64) float64 {
		v, _ := strconv.ParseFloat(b.eval("(() => { const r = document.getElementById('canvas').getBoundingClientRect(); return r."+
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
	b := openBrowser(t)
	b.resize(1400, 1200)
	b.open(save(t, corpus.Fits()))
	b.settle()
	if got := b.eval(momentOf); !strings.HasPrefix(got, "Live at the peak") {
		t.Errorf("the page opens at %q", got)
	}
	x, y := chartPlace(b, 0.5, 0.5)
	b.mouse("mouseMoved", x, y, nil)
	if got := b.eval(tipOf); !strings.Contains(got, "activations") || !strings.Contains(got, "GiB") {
		t.Errorf("the tip reads %q", got)
	}
	b.shoot("hover")
	left := map[string]any{"button": "left", "clickCount": 1}
	b.mouse("mousePressed", x, y, left)
	b.mouse("mouseReleased", x, y, left)
	if got := b.eval(momentOf); strings.HasPrefix(got, "Live at the peak") {
		t.Errorf("after a click the moment is still %q", got)
	}
	b.mouse("mouseWheel", x, y, map[string]any{"deltaX": 0, "deltaY": -240})
	if b.eval(zoomedOf) != "true" {
		t.Error("the wheel does not zoom")
	}
	b.eval("document.getElementById('reset').click()")
	if b.eval(zoomedOf) != "false" {
		t.Error("the whole run does not come back")
	}
	x2, _ := chartPlace(b, 0.7, 0.5)
	b.mouse("mousePressed", x, y, left)
	b.mouse("mouseMoved", x2, y, map[string]any{"button": "left", "buttons": 1})
	b.shoot("brush")
	b.mouse("mouseReleased", x2, y, left)
	if b.eval(zoomedOf) != "true" {
		t.Error("dragging does not zoom")
	}
	b.shoot("zoomed")
	check(t, b, "mouse")
}

func TestBrowserKeysAndSearch(t *testing.T) {
	b := openBrowser(t)
	b.resize(1400, 1200)
	b.open(save(t, corpus.Fits()))
	b.eval("document.getElementById('canvas').focus()")
	first := b.eval(sliderNow)
	b.key("ArrowRight")
	if got := b.eval(sliderNow); got == first {
		t.Errorf("the arrow does not move from %q", first)
	}
	b.key("p")
	if got := b.eval(sliderNow); got != first {
		t.Errorf("p leads to %q, want %q", got, first)
	}
	b.key("+")
	if b.eval(zoomedOf) != "true" {
		t.Error("+ does not zoom")
	}
	b.key("0")
	b.key("v")
	if got := b.eval(chosenOf); got != "by module" {
		t.Errorf("v shows %q", got)
	}
	b.shoot("by module")
	b.key("v")
	b.key("/")
	b.call("Input.insertText", map[string]any{"text": "model.py"}, nil)
	b.settle()
	for row := range strings.SplitSeq(b.eval(rowsOf), "|") {
		if !strings.Contains(row, "model.py") {
			t.Errorf("the search leaves %q", row)
		}
	}
	b.shoot("search")
	check(t, b, "keys")
}
