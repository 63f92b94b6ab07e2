// Command picture draws the screen of `plimsoll top --demo` as docs/top.svg, and
// writes it as text into docs/top.md (make pictures).
package main

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"time"

	"github.com/plimsoll-dev/plimsoll/internal/monitor"
	"github.com/plimsoll-dev/plimsoll/internal/monitor/demo"
	"github.com/plimsoll-dev/plimsoll/internal/tui"
	"github.com/plimsoll-dev/plimsoll/internal/tui/canvas"
	"github.com/plimsoll-dev/plimsoll/series"
)

// watched is how long the demo is watched before it is drawn: long enough for charts
// that are full, and for a trend.
const watched = 4 * time.Minute

func main() {
	if err := draw("docs/top.svg", "docs/top.md"); err != nil {
		fmt.Fprintln(os.Stderr, "picture:", err)
		os.Exit(1)
	}
}

func draw(picture, page string) error {
	samples := play()
	large, err := tui.Still(samples, tui.Size{Width: 132, Height: 44}, tui.Options{Theme: canvas.ThemeNamed("dark")})
	if err != nil {
		return err
	}
	var svg bytes.Buffer
	if err := large.SVG(&svg, canvas.ThemeNamed("dark")); err != nil {
		return err
	}
	if err := os.WriteFile(picture, svg.Bytes(), 0o644); err != nil {
		return err
	}
	small, err := tui.Still(samples, tui.Size{Width: 100, Height: 30}, tui.Options{})
	if err != nil {
		return err
	}
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	// The screen stands in the first block of the page.
	before, rest, ok := strings.Cut(string(text), "```text\n")
	_, after, closed := strings.Cut(rest, "```\n")
	if !ok || !closed {
		return fmt.Errorf("%s has no block for the screen", page)
	}
	return os.WriteFile(page, []byte(before+"```text\n"+strings.Join(small.Lines(), "\n")+"\n```\n"+after), 0o644)
}

// play samples the demo by a clock of its own, so that each picture is the same.
func play() []series.Sample {
	clock := time.Date(2026, 11, 30, 14, 0, 0, 0, time.UTC)
	now := func() time.Time { return clock }
	machine := demo.New(1, now)
	sampler := monitor.NewSampler(monitor.Options{Source: machine, Host: machine.Host(), Now: now, Rand: rand.New(rand.NewPCG(1, 2))})
	var samples []series.Sample
	for begun := clock; clock.Sub(begun) < watched; clock = clock.Add(sampler.Interval()) {
		samples = append(samples, sampler.Sample(context.Background()))
	}
	return samples
}
