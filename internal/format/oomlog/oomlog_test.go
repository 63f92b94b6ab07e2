package oomlog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func scan(t testing.TB, text string) *Log {
	t.Helper()
	log, err := Scan(t.Context(), strings.NewReader(text), "test.log")
	if err != nil {
		t.Fatal(err)
	}
	return log
}

// names are the kinds of the messages of a log.
func names(log *Log) []string {
	var out []string
	for _, m := range log.Messages {
		out = append(out, m.Kind.Name)
	}
	return out
}

func TestEveryKindHasAnExampleOfItsOwn(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range Kinds() {
		t.Run(k.Name, func(t *testing.T) {
			if seen[k.Name] {
				t.Error("the name is not unique")
			}
			seen[k.Name] = true
			if k.Framework == "" || k.Versions == "" || k.About == "" {
				t.Error("framework, versions or what it is are missing")
			}
			log := scan(t, "some line before\n"+k.Example+"\nsome line after\n")
			if diff := cmp.Diff([]string{k.Name}, names(log)); diff != "" {
				t.Fatalf("kinds in %q (want -, got +):\n%s", k.Example, diff)
			}
			m := log.Messages[0]
			if m.Cut {
				t.Errorf("%q is taken for a message that is cut", k.Example)
			}
			for name := range m.Fields {
				if !strings.Contains(" "+strings.Join(k.Fields, " ")+" ", " "+name+" ") {
					t.Errorf("field %s is not in the table", name)
				}
			}
			if len(m.Series) == 0 && (m.Line != 2 || m.Count != 1) {
				t.Errorf("line %d, count %d", m.Line, m.Count)
			}
			for _, by := range k.Absorbs {
				if !isKind(by) {
					t.Errorf("absorbs %s, which is no kind", by)
				}
			}
		})
	}
	for _, d := range details {
		for _, k := range d.kinds {
			if !isKind(k) {
				t.Errorf("%q is about %s, which is no kind", d.form, k)
			}
		}
	}
}

func isKind(name string) bool {
	for _, k := range Kinds() {
		if k.Name == name {
			return true
		}
	}
	return false
}

// modern is a message as PyTorch 2.5 prints it.
const modern = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 8.36 GiB. GPU 1 has a total capacity of 47.50 GiB of which 1.52 GiB is free. " +
	"Process 77 has 1.00 GiB memory in use. Including non-PyTorch memory, this process has 44.97 GiB memory in use. Of the allocated memory 39.30 GiB is allocated by PyTorch, " +
	"and 4.91 GiB is reserved by PyTorch but unallocated. If reserved but unallocated memory is large try setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation.  " +
	"See documentation for Memory Management  (https://pytorch.org/docs/stable/notes/cuda.html#environment-variables)"

// wrap breaks a text every width columns, as a terminal does.
func wrap(text string, width int, prefix string) string {
	var b strings.Builder
	for len(text) > width {
		b.WriteString(prefix + text[:width] + "\n")
		text = text[width:]
	}
	return b.String() + prefix + text + "\n"
}

// TestDisguises shows one message as terminals, launchers and containers do.
func TestDisguises(t *testing.T) {
	want := scan(t, modern).Messages[0]
	for name, text := range map[string]string{
		"colours":                       "\x1b[31m" + strings.ReplaceAll(modern, "GiB", "\x1b[1mGiB\x1b[0m") + "\x1b[0m",
		"colours without their escape":  "[31m" + modern + "[0m",
		"links of a terminal":           strings.ReplaceAll(modern, "https", "\x1b]8;;https://x\x07https"),
		"carriage returns":              "  1%|1  | 1/100\r  2%|2  | 2/100\r" + modern + "\r\n",
		"Windows line ends":             wrap(modern, 100, "")[:len(wrap(modern, 100, ""))-1] + "\r\n",
		"a rank":                        "[rank1]: " + modern,
		"a rank and wraps":              wrap("[rank1]: "+modern, 80, ""),
		"a rank on every wrapped line":  wrap(modern, 80, "[rank1]: "),
		"torchrun's tee":                wrap(modern, 80, "[default1]:"),
		"mpirun":                        wrap(modern, 61, "[1,1]<stderr>:"),
		"srun --label":                  wrap(modern, 61, "1: "),
		"compose":                       "trainer-1  | " + modern,
		"compose and a rank":            "trainer-1  | [rank1]: " + modern,
		"kubectl --timestamps":          wrap(modern, 200, "2026-01-02T03:04:05.678901234Z "),
		"an action's log":               "2026-01-02T03:04:05.6789012Z " + modern,
		"vLLM":                          "(VllmWorker rank=1 pid=2445156) ERROR 05-10 16:00:15 [multiproc_executor.py:470] " + modern,
		"Ray":                           wrap(modern, 120, "(train_fn pid=123, ip=10.0.0.1) "),
		"pytest":                        "E       " + modern,
		"a logger":                      "[2026-01-02 03:04:05,678] [ERROR] [engine.py:33:run] " + modern,
		"syslog":                        "Jan  2 03:04:05 node1 python[123]: " + modern,
		"Docker's file":                 `{"log":"` + modern + `\n","stream":"stderr","time":"2026-01-02T03:04:05.678901234Z"}`,
		"a frame":                       "│ " + wrap(modern, 70, "│ "),
		"hard spaces":                   strings.ReplaceAll(modern, " ", "\u00a0"),
		"no line end at all":            strings.Repeat("x", 3*sizeBefore) + modern + strings.Repeat("y", 3*sizeAfter),
		"far inside":                    strings.Repeat("step 1 loss 0.5\n", 100_000) + modern + strings.Repeat("\nbye", 100_000),
		"zero bytes":                    strings.ReplaceAll(modern, " ", "\x00 "),
		"as text of UTF-8 with a mark":  "\ufeff" + modern,
		"wrapped after every character": wrap(modern, 1, ""),
		"wrapped in frames and ranks":   wrap(modern, 24, "[rank1]: │ "),
	} {
		t.Run(name, func(t *testing.T) {
			log := scan(t, text)
			if len(log.Messages) != 1 {
				t.Fatalf("kinds %v", names(log))
			}
			m := log.Messages[0]
			if diff := cmp.Diff(want.Fields, m.Fields); m.Kind != want.Kind || diff != "" {
				t.Errorf("%s (want -, got +):\n%s", m.Kind.Name, diff)
			}
			if diff := cmp.Diff(want.Processes, m.Processes); diff != "" {
				t.Errorf("processes (want -, got +):\n%s", diff)
			}
			if m.Count != 1 {
				t.Errorf("counted %d times", m.Count)
			}
		})
	}
}

// TestNumbersEndWithTheirLine tells a number that a terminal wrapped from one
// at the end of a line.
func TestNumbersEndWithTheirLine(t *testing.T) {
	for _, c := range []struct {
		text string
		want int64
	}{
		{"allocating 51748.72 MiB on device 1: cudaMalloc failed: out of memory\n1.06.520.084 E ggml_gallocr_reserve_n: failed to allocate CUDA1 buffer of size 54262464512\n1.06.520.086 E graph_reserve: failed", 54262464512},
		{"Out of memory while trying to allocate 55207\n58552 bytes.", 5520758552},
		{"Out of memory while trying to allocate 5520758552 by\ntes.", 5520758552},
		{"CUDA out of memory. Tried to allocate 1\n2.00 MiB (GPU 0; 4.00 GiB total", 12 << 20},
		{"could not allocate pinned host memory of size: 343\n59738368", 343},
	} {
		m := scan(t, c.text).Messages[0]
		got := m.Fields["requested_bytes"] + m.Fields["requested_host_bytes"]
		if got != c.want {
			t.Errorf("%q: %d, want %d", c.text, got, c.want)
		}
	}
}

func TestRanksAreApart(t *testing.T) {
	other := strings.ReplaceAll(strings.ReplaceAll(modern, "GPU 1", "GPU 0"), "39.30", "39.10")
	a, b := strings.Split(wrap(modern, 80, "[rank1]: "), "\n"), strings.Split(wrap(other, 80, "[rank0]: "), "\n")
	var mixed []string
	for i := range a {
		mixed = append(mixed, a[i], b[i])
	}
	log := scan(t, strings.Join(mixed, "\n"))
	if len(log.Messages) != 2 {
		t.Fatalf("kinds %v", names(log))
	}
	for _, m := range log.Messages {
		if len(m.Ranks) != 1 || int64(m.Ranks[0]) != m.Fields["gpu_index"] || m.Cut {
			t.Errorf("ranks %v, GPU %d, cut %v", m.Ranks, m.Fields["gpu_index"], m.Cut)
		}
	}
}

func TestCopiesAreCounted(t *testing.T) {
	log := scan(t, "[rank0]: "+modern+"\n[rank2]: "+modern+"\n"+strings.Repeat("x\n", 100_000)+"[rank1]: "+modern+"\n"+modern+"\n")
	if len(log.Messages) != 1 {
		t.Fatalf("kinds %v", names(log))
	}
	if m := log.Messages[0]; m.Count != 4 || fmt.Sprint(m.Ranks) != "[0 1 2]" || m.Line != 1 {
		t.Errorf("count %d, ranks %v, line %d", m.Count, m.Ranks, m.Line)
	}
}

// TestCutAnywhere cuts messages at every byte: what is told then is part of
// what the whole message says.
func TestCutAnywhere(t *testing.T) {
	for _, k := range Kinds() {
		whole := scan(t, k.Example).Messages[0]
		for n := range len(k.Example) {
			log := scan(t, k.Example[:n])
			for _, m := range log.Messages {
				if m.Kind.Name != whole.Kind.Name {
					continue
				}
				for name, v := range m.Fields {
					// Two decimals come before the exact number, and a
					// number may be cut itself.
					want := whole.Fields[name]
					near := v > want-want/100 && v < want+want/100
					part := strings.HasPrefix(fmt.Sprint(want), fmt.Sprint(v))
					if v != want && !near && !part && len(m.Series) == 0 {
						t.Errorf("%q: %s is %d, %d in the whole message", k.Example[:n], name, v, want)
					}
				}
			}
		}
	}
}

// TestHowItIsRead gives the same log in pieces of any size.
func TestHowItIsRead(t *testing.T) {
	text := strings.Repeat("a line of a log with out of memory in it\n", 40_000) + modern + "\n" + strings.Repeat("resource_exhausted ", 60_000)
	want := scan(t, text)
	for name, r := range map[string]io.Reader{
		"halves":    iotest.HalfReader(strings.NewReader(text)),
		"early end": iotest.DataErrReader(strings.NewReader(text)),
	} {
		got, err := Scan(t.Context(), r, "x")
		if err != nil {
			t.Fatal(err)
		}
		if got.Bytes != want.Bytes || got.Lines != want.Lines || len(got.Messages) != len(want.Messages) {
			t.Errorf("%s: %d bytes, %d lines, %d messages", name, got.Bytes, got.Lines, len(got.Messages))
		}
		for i, m := range got.Messages {
			if m.Line != want.Messages[i].Line || m.Offset != want.Messages[i].Offset {
				t.Errorf("%s: line %d, byte %d; want %d, %d", name, m.Line, m.Offset, want.Messages[i].Line, want.Messages[i].Offset)
			}
		}
	}
	broken := errors.New("the disk is gone")
	log, err := Scan(t.Context(), io.MultiReader(strings.NewReader(modern+"\n"), iotest.ErrReader(broken)), "x.log")
	if !errors.Is(err, broken) || len(log.Messages) != 1 {
		t.Errorf("%v with %d messages", err, len(log.Messages))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Scan(ctx, strings.NewReader(text), "x"); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestHealthyLogsHaveNoMessage(t *testing.T) {
	for _, text := range []string{
		"", "\n", "Epoch 1: 100%|##########| 10/10 loss=0.1\nallocated 3.2 GiB, reserved 4.0 GiB\n",
		"CUDA memory allocated: 1.00 GiB, out of 8 GiB\n", "stats: limit: 3\n",
		"INFO worker.py:267] model weights take 5.20GiB; non_torch_memory takes 0.03GiB; PyTorch activation peak memory takes 1.42GiB; the rest of the memory reserved for KV Cache is 4.05GiB.\n",
		"Allocator (GPU_0_bfc) ran out of memory trying to allocate 2.27GiB with freed_by_count=0. The caller indicates that this is not a failure, but this may mean that there could be performance gains if more memory were available.\n",
		"tmpfs 24G 38M 24G 1% /dev/shm\n",
	} {
		if log := scan(t, text); len(log.Messages) > 0 {
			t.Errorf("%q: %v", text, names(log))
		}
	}
}

// TestMemoryIsBounded reads a log that is nothing but different messages.
func TestMemoryIsBounded(t *testing.T) {
	var b strings.Builder
	for i := range 3 * mostOfKind {
		fmt.Fprintf(&b, "CUDA out of memory. Tried to allocate %d.00 MiB\n", i+1)
	}
	log := scan(t, b.String())
	if len(log.Messages) != mostOfKind || log.Dropped != 2*mostOfKind {
		t.Errorf("%d messages, %d dropped", len(log.Messages), log.Dropped)
	}
}

func TestAmounts(t *testing.T) {
	for _, c := range []struct {
		text string
		want int64
		n    int
	}{
		{"15.87gib", 17040282747, 8}, {"0bytesisfree", 0, 6}, {"1024.00kib", 1 << 20, 10}, {"-1.05gib.", -1127428915, 8}, {"926.gib", 926 << 30, 7},
		{"4.50mb", 4718592, 6}, {"32.00m(", 32 << 20, 6}, {"1900,00mib", 1900 << 20, 10}, {"17179869184.00gib", 1<<63 - 1, 17},
		{"gib", 0, 0}, {"1.5", 0, 0}, {"", 0, 0}, {"1.5x", 0, 0}, {"99999999999999999999999999gib", 1<<63 - 1, 29},
	} {
		if got, n := amount([]byte(c.text)); got != c.want || n != c.n {
			t.Errorf("amount(%q) = %d, %d; want %d, %d", c.text, got, n, c.want, c.n)
		}
	}
}

func FuzzScan(f *testing.F) {
	for _, k := range Kinds() {
		f.Add([]byte(k.Example))
	}
	f.Add([]byte(wrap(modern, 9, "[rank1]: ")))
	f.Add([]byte("{\"log\":\"CUDA out of memory. Tried to allocate 9999999999999999999999 GiB"))
	f.Add([]byte("\x1b[\x1b]8;[31m"))
	f.Fuzz(func(t *testing.T, data []byte) {
		log, err := Scan(t.Context(), bytes.NewReader(data), "fuzz")
		if err != nil {
			t.Fatal(err)
		}
		if log.Bytes != int64(len(data)) {
			t.Fatalf("%d bytes of %d", log.Bytes, len(data))
		}
		for _, m := range log.Messages {
			if m.Kind == nil || m.Line < 1 || m.Line > log.Lines || m.Offset > log.Bytes || m.Count < 1 {
				t.Fatalf("%+v in %d lines", m, log.Lines)
			}
		}
	})
}

// training is a log as training writes it: progress bars, losses, warnings.
func training(size int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	var b bytes.Buffer
	for step := 0; b.Len() < min(size, 1<<20); step++ {
		fmt.Fprintf(&b, "2026-01-02 03:04:05,678 [INFO] trainer.py:123 step %d loss %.4f lr 3.0e-04 grad_norm %.3f mem 71.3 GiB allocated tok/s %d\n",
			step, r.Float64()*3, r.Float64(), 10000+r.IntN(5000))
		if step%7 == 0 {
			fmt.Fprintf(&b, "Epoch 3:  %d%%|█████▌    | %d/1000 [03:21<04:12,  1.32it/s, v_num=3, train_loss=%.3f]\r", step%100, step%1000, r.Float64())
		}
	}
	return bytes.Repeat(b.Bytes(), max(1, size/b.Len()))
}

func BenchmarkScan(b *testing.B) {
	for name, data := range map[string][]byte{
		"training": append(training(64<<20), modern...),
		"crashing": bytes.Repeat([]byte(strings.Repeat("File \"train.py\", line 12, in forward\n    x = self.layer(x)\n", 40)+modern+"\n"), 2000),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				if log, err := Scan(b.Context(), bytes.NewReader(data), "x"); err != nil || len(log.Messages) != 1 {
					b.Fatal(err, len(log.Messages))
				}
			}
		})
	}
}

func TestALargeLogIsReadOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("a log of 100 MB")
	}
	data := append(training(100<<20), modern...)
	begin := time.Now()
	if log, err := Scan(t.Context(), bytes.NewReader(data), "x"); err != nil || len(log.Messages) != 1 {
		t.Fatal(err)
	}
	t.Logf("%.0f MB/s", float64(len(data))/1e6/time.Since(begin).Seconds())
}
