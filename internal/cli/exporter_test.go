package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// A firstLine keeps what is written and hands on its first line.
type firstLine struct {
	mu    sync.Mutex
	text  strings.Builder
	first chan string
}

func (l *firstLine) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	before := strings.Contains(l.text.String(), "\n")
	l.text.Write(p)
	if line, _, ok := strings.Cut(l.text.String(), "\n"); ok && !before {
		l.first <- line
	}
	return len(p), nil
}

// startExporter runs the command until the test ends and returns its address.
func startExporter(t *testing.T, args ...string) string {
	t.Helper()
	stdio := ProcessIO()
	said := &firstLine{first: make(chan string, 1)}
	stdio.Err, stdio.ErrWidth = said, 0
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan Exit, 1)
	go func() {
		ended <- Run(ctx, append([]string{"exporter", "--demo", "--interval", "200ms", "--listen", "127.0.0.1:0"}, args...), stdio)
	}()
	t.Cleanup(func() {
		cancel()
		if exit := <-ended; exit != ExitInterrupted {
			t.Errorf("exit %d after an interrupt", exit)
		}
	})
	select {
	case line := <-said.first:
		_, address, _ := strings.Cut(line, "http://")
		return strings.TrimSuffix(address, "/metrics")
	case <-time.After(20 * time.Second):
		t.Fatal("the exporter does not say where it listens")
		return ""
	}
}

func TestExporterServes(t *testing.T) {
	address := startExporter(t)
	deadline := time.Now().Add(20 * time.Second)
	for {
		resp, err := http.Get("http://" + address + "/readyz")
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close() //nolint:errcheck // it was only read
		if resp.StatusCode == http.StatusOK {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("/readyz is %d", resp.StatusCode)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func TestExporterRefusesAnAddress(t *testing.T) {
	address := startExporter(t)
	if _, stderr := replayed(t, ExitFailed, "exporter", "--demo", "--listen", address); !strings.Contains(stderr, "listen on "+address) || !strings.Contains(stderr, "hint: --listen") {
		t.Error(stderr)
	}
}

// TestPrometheusScrapes starts a real Prometheus with our alert rules on the
// exporter, and asks it.
func TestPrometheusScrapes(t *testing.T) {
	prometheus, err := exec.LookPath("prometheus")
	if err != nil {
		t.Skip("prometheus is not installed (Debian: prometheus)")
	}
	exporter := startExporter(t, "--dcgm-names", "--processes", "20")
	dir := t.TempDir()
	rules, err := filepath.Abs(filepath.Join("..", "..", "deploy", "prometheus", "alerts.yml"))
	if err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(dir, "prometheus.yml")
	text := fmt.Sprintf("global: {scrape_interval: 1s, evaluation_interval: 1s}\nrule_files: [%q]\nscrape_configs: [{job_name: plimsoll, static_configs: [{targets: [%q]}]}]\n", rules, exporter)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	address := freeAddress(t)
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	cmd := exec.CommandContext(t.Context(), prometheus, "--config.file", config, "--storage.tsdb.path", filepath.Join(dir, "data"), "--web.listen-address", address)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		cmd.Process.Signal(os.Interrupt) //nolint:errcheck // Wait says how it ended
		cmd.Wait()                       //nolint:errcheck // an interrupt is no success
		if t.Failed() {
			text, _ := os.ReadFile(log.Name())
			t.Logf("%s", text[max(0, len(text)-4000):])
		}
	}()
	for query, want := range map[string]string{
		`up{job="plimsoll"}`: "1", `count(plimsoll_gpu_sample_status == 1)`: "11", `plimsoll_gpu_sample_status{gpu="5",status="lost"}`: "1",
		`round(plimsoll_gpu_memory_total_bytes{gpu="0"})`: "85469849190", `count(plimsoll_gpu_energy_joules_total)`: "6", `DCGM_FI_DEV_FB_RESERVED{gpu="0"}`: "512",
		`count(plimsoll_process_gpu_memory_used_bytes)`: "9",
	} {
		if got := ask(address, query, want); got != want {
			t.Errorf("%s is %q, want %s", query, got, want)
		}
	}
	if got := ask(address, `count(ALERTS{alertname="PlimsollGPUUnreadable"})`, "2"); got != "2" { // one stuck, one lost
		t.Errorf("%s alerts are pending for two GPUs that cannot be read", got)
	}
}

// freeAddress is one that nobody listens on.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // nobody listens on it
	return l.Addr().String()
}

// ask asks Prometheus until it gives the answer that is wanted, or for 40 seconds.
func ask(address, query, want string) string {
	got := ""
	for deadline := time.Now().Add(40 * time.Second); time.Now().Before(deadline); time.Sleep(200 * time.Millisecond) {
		if got = askOnce(address, query); got == want {
			break
		}
	}
	return got
}

func askOnce(address, query string) string {
	resp, err := http.Get("http://" + address + "/api/v1/query?query=" + url.QueryEscape(query))
	if err != nil {
		return err.Error()
	}
	defer resp.Body.Close() //nolint:errcheck // it was only read
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return err.Error()
	}
	var answer struct {
		Data struct {
			Result []struct {
				Value [2]any `json:"value"`
			} `json:"result"`
		} `json:"data"`
	}
	if err := json.Unmarshal(text, &answer); err != nil || len(answer.Data.Result) != 1 {
		return string(text)
	}
	return fmt.Sprint(answer.Data.Result[0].Value[1])
}
