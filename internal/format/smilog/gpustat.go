package smilog

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"github.com/plimsoll-dev/plimsoll/internal/input"
	"github.com/plimsoll-dev/plimsoll/series"
)

// mostDocument is how long one document of gpustat may be.
const mostDocument = 16 << 20

// A gpustat is a log of `gpustat --json`: documents one behind the other.
type gpustat struct {
	r     *Reader
	guard *input.Guard
	dec   *json.Decoder
	clock clock
}

func newGpustat(r *Reader, src io.Reader) *gpustat {
	g := &gpustat{r: r, guard: &input.Guard{Src: src, Left: mostDocument}}
	g.dec = json.NewDecoder(g.guard)
	return g
}

// isGpustat reports whether a file begins with a document of gpustat.
func isGpustat(prefix []byte) bool {
	text := bytes.TrimLeft(bytes.TrimPrefix(prefix, []byte("\xef\xbb\xbf")), " \t\r\n")
	return bytes.HasPrefix(text, []byte("{")) && bytes.Contains(text, []byte(`"query_time"`)) && bytes.Contains(text, []byte(`"gpus"`))
}

// A gpustatDocument is what gpustat prints; null is not known.
type gpustatDocument struct {
	Hostname string `json:"hostname"`
	Driver   string `json:"driver_version"`
	Time     string `json:"query_time"`
	GPUs     []struct {
		Index       int      `json:"index"`
		UUID        string   `json:"uuid"`
		Name        string   `json:"name"`
		Temperature *float64 `json:"temperature.gpu"`
		Fan         *float64 `json:"fan.speed"`
		Busy        *float64 `json:"utilization.gpu"`
		Encoder     *float64 `json:"utilization.enc"`
		Decoder     *float64 `json:"utilization.dec"`
		Power       *float64 `json:"power.draw"`
		PowerLimit  *float64 `json:"enforced.power.limit"`
		Used        *float64 `json:"memory.used"`
		Total       *float64 `json:"memory.total"`
		Processes   []struct {
			PID     int      `json:"pid"`
			User    string   `json:"username"`
			Command string   `json:"command"`
			Memory  *float64 `json:"gpu_memory_usage"`
		} `json:"processes"`
	} `json:"gpus"`
}

// more reads a document, and reports whether there may be another.
func (g *gpustat) more() bool {
	g.guard.Left = mostDocument
	var doc gpustatDocument
	if err := g.dec.Decode(&doc); err != nil {
		if !errors.Is(err, io.EOF) {
			g.r.tell("cut", "the document behind byte %d is cut or no JSON: %v; what follows is left out", g.dec.InputOffset(), err)
		}
		return false
	}
	b := &g.r.build
	when := g.clock.read(doc.Time)
	if when.IsZero() {
		g.r.tell("time", "%q is no time that is known", doc.Time)
	}
	b.host.Name, b.host.Driver = doc.Hostname, doc.Driver
	b.begin(when)
	for _, gpu := range doc.GPUs {
		if _, again := b.devices[gpu.UUID]; again {
			continue
		}
		d := b.device(gpu.UUID, when)
		if d == nil {
			break
		}
		d.Index, d.Name = gpu.Index, gpu.Name
		for _, v := range []struct {
			c     series.Counter
			v     *float64
			times float64
		}{
			{series.Temperature, gpu.Temperature, 1}, {series.Fan, gpu.Fan, 0.01}, {series.Busy, gpu.Busy, 0.01}, {series.EncoderBusy, gpu.Encoder, 0.01},
			{series.DecoderBusy, gpu.Decoder, 0.01}, {series.Power, gpu.Power, 1}, {series.PowerLimit, gpu.PowerLimit, 1},
			{series.MemoryUsed, gpu.Used, 1 << 20}, {series.MemoryTotal, gpu.Total, 1 << 20},
		} {
			value := series.Without(series.NotSupported)
			if v.v != nil {
				value = series.Of(*v.v * v.times)
			}
			d.Values.Set(v.c, value)
		}
		for _, p := range gpu.Processes {
			u := series.Use{Device: gpu.UUID, Kind: series.Compute}
			if p.Memory != nil {
				u.Values.Set(series.UseMemory, series.Of(*p.Memory*(1<<20)))
			}
			b.addUse(p.PID, p.User, p.Command, u)
		}
	}
	b.flush()
	return true
}
