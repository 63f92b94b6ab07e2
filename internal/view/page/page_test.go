//go:build unix

package page

import (
	"bytes"
	"encoding/json"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-dev/plimsoll/internal/chromium"
	"github.com/plimsoll-dev/plimsoll/internal/view"
	"github.com/plimsoll-dev/plimsoll/internal/view/viewtest"
	"github.com/plimsoll-dev/plimsoll/internal/webpage"
	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

func draw(t *testing.T, tp *tape.Tape) *view.Drawing {
	t.Helper()
	d, err := view.New(view.Recording{Tape: tp}, view.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// loop makes a tape of training steps.
func loop(events int) *tape.Tape {
	w := &tape.Writer{}
	t := w.Tape()
	forward := t.InternSite([]tape.Frame{{Name: "forward", File: "/home/me/net.py", Line: 12}, {Name: "main", File: "/home/me/train.py", Line: 80}})
	step := t.InternSite([]tape.Frame{{Name: "step", File: "/home/me/optimizer.py", Line: 7}, {Name: "main", File: "/home/me/train.py", Line: 90}})
	w.Site = step
	for range 20 {
		w.Alloc(40*unit.MiB, tape.Parameter)
	}
	for n := int64(1); t.Len() < events; n++ {
		w.Site = forward
		var kept []tape.BlockID
		for i := range 60 {
			kept = append(kept, w.Alloc(unit.Bytes(i%9+1)*4*unit.MiB, tape.Activation))
			w.Free(w.Alloc(unit.Bytes(i%5+1)*unit.MiB, tape.Temporary))
		}
		w.Site = step
		for i := range kept {
			w.Free(kept[len(kept)-1-i])
		}
		w.Mark(tape.MarkStep, "", n)
	}
	return t
}

// save writes a page with a drawing and its usual replays.
func save(t *testing.T, d *view.Drawing) string {
	t.Helper()
	s := Scene{Drawing: d, Caption: view.Caption{File: "</script>.tape"}}
	if check := d.Verify(); check.Err == nil {
		r, err := d.Replay("expandable_segments:True", check)
		if err != nil {
			t.Fatal(err)
		}
		d.PeakMap(r)
		s.Replays = []*view.Replay{r}
	}
	var out bytes.Buffer
	err := Write(&out, Page{File: `<b>"x"</b>.tape`, Devices: []int{0}, Settings: []string{"expandable_segments:True"}, Scenes: []Scene{s}})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(file, out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// node runs a script with what it says on standard output.
func node(t *testing.T, script string, args ...string) string {
	t.Helper()
	path, err := exec.LookPath("node")
	if err != nil {
		t.Skip("no node in PATH")
	}
	file := filepath.Join(t.TempDir(), "script.js")
	if err := os.WriteFile(file, []byte(script), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), path, append([]string{file}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

// models are the files of the script that know nothing of a browser.
func models(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString(webpage.Amounts())
	for _, name := range scripts {
		if name == "files/theme.js" {
			break
		}
		text, err := files.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(text)
	}
	picture, err := files.ReadFile("files/picture.js")
	if err != nil {
		t.Fatal(err)
	}
	b.Write(picture)
	return "'use strict';\n" + b.String()
}

// TestPictureIsTheTape lets the script work out pictures at many zooms and
// compares each with the tape's own totals.
func TestPictureIsTheTape(t *testing.T) {
	d := draw(t, loop(30_000))
	var scene bytes.Buffer
	if err := d.WriteScene(&scene, view.Caption{}); err != nil {
		t.Fatal(err)
	}
	totals := []unit.Bytes{d.Totals.First.Allocated}
	if err := d.EachState(func(_ int, _ tape.Event, now view.Moment) error {
		totals = append(totals, now.Allocated)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(totals)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, content := range map[string][]byte{"scene": scene.Bytes(), "totals": text} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, script := range []string{models(t), strings.Replace(models(t), "mostHeld = 4 << 20", "mostHeld = 1", 1)} {
		if out := node(t, script+pictureCheck, dir); out != "fine\n" {
			t.Error(out)
		}
	}
}

const pictureCheck = `
const fs = require('fs');
const file = fs.readFileSync(process.argv[2] + '/scene');
const s = newScene(file.buffer.slice(file.byteOffset, file.byteOffset + file.length));
const totals = JSON.parse(fs.readFileSync(process.argv[2] + '/totals'));
const v = newView(s);
const wrong = (...what) => { console.log(...what); process.exit(); };
const n = s.states;
if (totals.length !== n) wrong('states', n, totals.length);
for (const width of [300, 901]) for (const [a, b] of [[0, n], [n * 0.3, n * 0.6], [1000, 1500], [n - 700, n], [5000, 5040]]) {
  show(v, a, b);
  for (const mode of ['blocks', ...usefulCuts(s)]) {
    v.mode = mode;
    const p = drawUp(v, width, 400);
    const count = p.columns.length - 1;
    for (let c = 0; c < count; c++) {
      const from = Math.min(p.columns[c], n - 1);
      const part = totals.slice(from, Math.max(p.columns[c + 1], from + 1));
      const most = Math.max(...part);
      if (p.samples.most[c] !== most) wrong('most', mode, a, b, c, p.samples.most[c], most);
      if (p.samples.least[c] !== Math.min(...part)) wrong('least', a, b, c);
      if (totals[p.samples.state[c]] !== most) wrong('sample', a, b, c);
      if (p.layers) {
        const sum = p.layers.reduce((x, l) => x + l.bytes[c], 0);
        if (sum !== most) wrong('layers', mode, a, b, c, sum, most);
      } else {
        let sum = 0;
        for (const id of p.chosen) if (s.start[id] <= p.samples.state[c] && p.samples.state[c] < s.end[id]) sum += s.bytes[s.shape[id]];
        if (sum > most) wrong('chosen', a, b, c, sum, most);
        if (b - a < 100 && sum !== most) wrong('not all are drawn', a, b, c, sum, most);
      }
    }
    if (p.edges) checkEdges(p, a, b);
  }
}
function checkEdges(p, a, b) {
  const count = p.columns.length - 1;
  p.edges.forEach((edge, i) => {
    if (!Number.isNaN(edge[edge.length - 1])) wrong('a band does not end', a, b);
    for (let k = 2; k < edge.length; k += 2) if (edge[k] < edge[k - 2] || edge[k] > count + 1) wrong('a band goes back', a, b, edge);
  });
  for (let c = 0; c < count; c += 7) { // no two bands overlap in the middle of a pixel
    const spans = [];
    p.edges.forEach((edge, i) => {
      for (let k = 0; k + 2 < edge.length; k += 2) if (edge[k] <= c && c + 1 <= edge[k + 2]) spans.push([edge[k + 1], edge[k + 1] + s.bytes[s.shape[p.chosen[i]]]]);
    });
    spans.sort((x, y) => x[0] - y[0]);
    for (let k = 1; k < spans.length; k++) if (spans[k][0] < spans[k - 1][1]) wrong('bands overlap', a, b, c, spans[k - 1], spans[k]);
  }
}
for (const state of [0, 1, 777, n - 1]) if (totalAt(s, state) !== totals[state]) wrong('total', state);
const found = findStacks(s, 'net.py:12');
if (!found || foundAt(s, found, s.peak).blocks === 0 || findStacks(s, 'no such place').some((f) => f)) wrong('search');
console.log('fine');
`

func TestScriptIsValid(t *testing.T) {
	script, err := webpage.Script(files, scripts)
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"innerHTML", "outerHTML", "insertAdjacent", "document.write", "eval(", "new Function", "</script"} {
		if strings.Contains(script, bad) {
			t.Errorf("the script has %q", bad)
		}
	}
	node(t, "new Function("+strconv.Quote(script)+")")
	names, err := files.ReadDir("files")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range names {
		if strings.HasSuffix(f.Name(), ".js") && !slices.Contains(scripts, "files/"+f.Name()) {
			t.Errorf("%s is in no page", f.Name())
		}
	}
}

// TestBrowser opens pages, works with them, and looks for what must not
// happen.
func TestBrowser(t *testing.T) {
	b := chromium.Test(t)
	must := b.Must
	for name, tp := range map[string]*tape.Tape{"loop": loop(20_000), "hostile": viewtest.Hostile(), "empty": {}} {
		file := (&url.URL{Scheme: "file", Path: save(t, draw(t, tp))}).String()
		must(b.Resize(1280, 720))
		must(b.Open(file))
		must(b.Until("document.documentElement.dataset.ready", 30*time.Second))
		if got := b.Value("document.documentElement.dataset.ready"); got != "yes" {
			t.Fatalf("%s: the page says %s", name, b.Value("document.getElementById('status').textContent"))
		}
		for _, scheme := range []string{"light", "dark"} {
			must(b.Scheme(scheme))
			for _, width := range []int{360, 800, 1280, 1920} {
				must(b.Resize(width, 720))
				if over := b.Value("document.documentElement.scrollWidth - innerWidth"); over != "0" && !strings.HasPrefix(over, "-") {
					t.Errorf("%s, %d pixels wide: %s too wide", name, width, over)
				}
			}
		}
		must(b.Resize(1280, 720))
		must(b.Click(500, 300))
		for range 3 {
			must(b.Mouse("mouseWheel", 500, 300, map[string]any{"deltaX": 0, "deltaY": -300}))
		}
		for _, key := range strings.Split("v v v v v f t p b + - . , 0 ArrowRight ArrowUp ArrowUp Escape Home End p ?", " ") {
			must(b.Key(key))
		}
		b.Value(`document.getElementById('help').close(), document.getElementById('search').value = 'net.py', document.getElementById('search').dispatchEvent(new Event('input')), 1`)
		b.Value(`document.getElementById('conf').selectedIndex = 1, document.getElementById('conf').dispatchEvent(new Event('change')), 1`)
		if name == "loop" {
			must(b.Until("document.getElementById('replay-facts').textContent.startsWith('With ') && document.getElementById('search-facts').textContent && document.querySelector('#list tbody tr')", 20*time.Second))
			if got := b.Value("document.getElementById('replay-facts').textContent"); !strings.HasPrefix(got, "With expandable_segments:True at most ") {
				t.Errorf("the replay says %q", got)
			}
			if got := b.Value("document.getElementById('search-facts').textContent"); !strings.Contains(got, "at the peak") {
				t.Errorf("the search says %q", got)
			}
		}
		if got := b.Value("document.title"); got == "owned" || !strings.Contains(got, "<b>") {
			t.Errorf("%s: the title is %q", name, got)
		}
		if got := b.Value("document.querySelectorAll('script').length + ' ' + document.images.length + ' ' + document.querySelectorAll('h1 b').length"); got != "4 0 0" {
			t.Errorf("%s: scripts, images and tags in the title: %s", name, got)
		}
		for _, c := range b.Complaints() {
			t.Errorf("%s: %.500s", name, c)
		}
		for _, r := range b.Requests() {
			if r != file && !strings.HasPrefix(r, "data:") {
				t.Errorf("%s asks for %s", name, r)
			}
		}
	}
}
