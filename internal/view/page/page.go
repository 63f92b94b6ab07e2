// Package page is the page of plimsoll view: served by a program, or saved as
// one file that needs nothing else.
//
// Strings of a recording are hostile. They reach the page as JSON and as
// columns in script elements that no browser runs, the script sets them as
// text only, and the page's policy allows no script but the embedded one and
// no request but to where the page came from.
package page

import (
	"bytes"
	"compress/gzip"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/view"
	"github.com/plimsoll-dev/plimsoll/internal/webpage"
)

//go:embed files
var files embed.FS

// scripts are the files of the page's one script, in order: each uses only
// what stands before it.
var scripts = []string{
	"files/format.js", "files/decode.js", "files/scene.js", "files/axis.js", "files/blocks.js",
	"files/layers.js", "files/find.js", "files/map.js", "files/theme.js", "files/raster.js", "files/picture.js",
	"files/paint.js", "files/list.js", "files/keys.js", "files/source.js", "files/replay.js", "files/main.js",
}

// A Page is what is shown of one file.
type Page struct {
	File     string   // its name
	Devices  []int    // numbers of the devices, the first is opened first
	Settings []string // allocator settings that can be tried
	Served   bool     // a program answers requests
	Scenes   []Scene  // of a page that is not served
}

// A Scene is a drawing that a page carries with it.
type Scene struct {
	Drawing *view.Drawing
	Caption view.Caption
	Replays []*view.Replay
}

// facts are what the script reads first.
type facts struct {
	Served  bool     `json:"served"`
	Devices []int    `json:"devices"`
	Confs   []string `json:"confs"`
}

// parts are what the template sees.
type parts struct {
	File   string
	Style  template.CSS
	Script template.JS
	Policy string
	Facts  facts
	Scenes []carried
}

type carried struct {
	Device  int
	Data    string // gzip, base64 for addresses
	Replays []*view.Replay
}

// Write writes the page.
func Write(w io.Writer, p Page) error {
	script, err := webpage.Script(files, scripts)
	if err != nil {
		return err
	}
	style, err := files.ReadFile("files/style.css")
	if err != nil {
		return err
	}
	t, err := template.New("page.html").ParseFS(files, "files/page.html")
	if err != nil {
		return err
	}
	confs := p.Settings
	if confs == nil {
		confs = []string{}
	}
	data := parts{
		File: strings.ToValidUTF8(p.File, "\uFFFD"), Style: template.CSS(style), Script: template.JS(script), Policy: policy(script, p.Served),
		Facts: facts{p.Served, p.Devices, confs},
	}
	for _, s := range p.Scenes {
		text, err := pack(s)
		if err != nil {
			return fmt.Errorf("device %d: %w", s.Drawing.Device, err)
		}
		replays := s.Replays
		if replays == nil {
			replays = []*view.Replay{}
		}
		data.Scenes = append(data.Scenes, carried{int(s.Drawing.Device), text, replays})
	}
	return t.Execute(w, data)
}

// pack writes a scene as text for a script element, in letters that no template
// escapes.
func pack(s Scene) (string, error) {
	var out bytes.Buffer
	text := base64.NewEncoder(base64.RawURLEncoding, &out)
	zip, err := gzip.NewWriterLevel(text, gzip.BestSpeed)
	if err != nil {
		return "", err
	}
	if err := s.Drawing.WriteScene(zip, s.Caption); err != nil {
		return "", err
	}
	if err := zip.Close(); err != nil {
		return "", err
	}
	err = text.Close()
	return out.String(), err
}

// Policy is the Content-Security-Policy of the served page.
func Policy() (string, error) {
	script, err := webpage.Script(files, scripts)
	return policy(script, true), err
}

// policy lets the page draw pictures of its own, and ask only where it came
// from, when it is served.
func policy(script string, served bool) string {
	connect := "connect-src 'none'"
	if served {
		connect = "connect-src 'self'"
	}
	return webpage.Policy(script, "img-src data:", connect)
}
