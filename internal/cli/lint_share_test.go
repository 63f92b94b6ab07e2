package cli

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/idle"
)

// slowScript loads images in its own process, reads the loss on each step and
// saves on each step.
const slowScript = `import torch
from torch.utils.data import DataLoader
from torchvision.datasets import ImageFolder

def train(model, criterion, optimizer):
    loader = DataLoader(ImageFolder("photos"), batch_size=64)
    for images, labels in loader:
        loss = criterion(model(images.cuda()), labels.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(loss.item())
        torch.save(model.state_dict(), "last.pt")
`

func TestLintShareOfARun(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const devices = `"devices": [
		{"label": "GPU 0", "judged_seconds": 100, "causes": [{"cause": "no-workers", "lost_seconds": 30}]},
		{"label": "GPU 1", "judged_seconds": 200, "causes": [{"cause": "no-workers", "lost_seconds": 82}, {"cause": "checkpoint-stall", "lost_seconds": 10}]},
		{"label": "GPU 2", "judged_seconds": 0, "causes": []}]`
	for name, text := range map[string]string{
		"run.json":    `{"schema": "plimsoll.run/1", ` + devices + `}`,
		"replay.json": `{"schema": "plimsoll.replay/1", "hosts": [{` + devices + `}]}`,
	} {
		path := write(name, text)
		found := lintScript(t, slowScript, "--with", path)
		f := found["loader-no-workers"]
		if math.Abs(f.Share-0.41) > 1e-9 || f.ShareOf != "no-workers" || !strings.HasPrefix(f.Cost, "at most 41 % of the time in "+path+", on GPU 1: ") {
			t.Errorf("%s: the larger share is not told: %+v", name, f)
		}
		if f := found["save-every-step"]; math.Abs(f.Share-0.05) > 1e-9 || f.ShareOf != "checkpoint-stall" {
			t.Errorf("%s: what saving cost is not told: %+v", name, f)
		}
		if f := found["item-every-step"]; f.Share != 0 || f.Cost == "" || strings.Contains(f.Cost, inGeneral) {
			t.Errorf("%s: a share that was not measured: %+v", name, f)
		}
	}
	run := write("both.json", `{"schema": "plimsoll.capture/1", "command": ["train.py"], "by_category": {"parameter_bytes": 1048576}}`)
	f := lintScript(t, slowScript, "--with", run, "--with", filepath.Join(dir, "run.json"))["save-every-step"]
	if f.Bytes != 1<<20 || math.Abs(f.Share-0.05) > 1e-9 {
		t.Errorf("of two files not both are told: %+v", f)
	}
}

// TestLintShareOfARecording: the shares are those that replay tells.
func TestLintShareOfARecording(t *testing.T) {
	path := demoRecording(t)
	document, _ := replayed(t, ExitOK, "replay", path, "--format", "json")
	told := answeredShares(path, []byte(document))
	read, err := recordedShares(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if len(read.causes) == 0 || len(read.causes) != len(told.causes) {
		t.Fatalf("%d causes, replay tells %d", len(read.causes), len(told.causes))
	}
	for cause, got := range read.causes {
		if want := told.causes[cause]; math.Abs(got.share-want.share) > 1e-6 || got.device != want.device {
			t.Errorf("%s: %+v, replay tells %+v", cause, got, want)
		}
	}
	found := lintScript(t, slowScript, "--with", path)
	for rule, f := range found {
		if f.Share != read.of(rule).share {
			t.Errorf("%s: %v, want %v", rule, f.Share, read.of(rule).share)
		}
	}
}

// TestCauseRules: the table names causes and rules that are there.
func TestCauseRules(t *testing.T) {
	causes, rules := map[string]bool{}, map[string]bool{}
	for _, c := range idle.Causes() {
		causes[c.ID] = true
	}
	for _, r := range lintRules() {
		rules[r.Name] = strings.HasPrefix(r.Code, "GPU1") || r.Name == "empty-cache-every-step" // which takes time, not memory
	}
	for _, row := range causeRules {
		if !causes[row.cause] {
			t.Errorf("there is no cause %s", row.cause)
		}
		for _, name := range row.rules {
			if !rules[name] {
				t.Errorf("%s: there is no rule of utilisation %s", row.cause, name)
			}
		}
	}
}
