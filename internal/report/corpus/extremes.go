package corpus

import (
	"fmt"
	"math"

	"github.com/plimsoll-dev/plimsoll/internal/report"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// ManyCards is one script judged for several cards.
func ManyCards() *report.Report {
	table := &report.Table{Columns: []report.Column{
		{Name: "GPU"}, {Name: "verdict"}, {Name: "needs", Kind: report.Size}, {Name: "offers", Kind: report.Size}, {Name: "left", Kind: report.Size, Spare: 1},
	}}
	for _, c := range []struct {
		name     string
		answer   report.Answer
		word     string
		need     unit.Bytes
		capacity unit.Bytes
	}{
		{"NVIDIA GeForce RTX 3090", report.No, "does not fit", 30 * unit.GiB, 25_430_786_048},
		{"NVIDIA A100-SXM4-40GB", report.Maybe, "may not fit", 39 * unit.GiB, a100},
		{"NVIDIA H100 80GB HBM3", report.OK, "fits", 40 * unit.GiB, h100},
	} {
		table.Rows = append(table.Rows, []report.Cell{
			report.TextCell(c.name), {Known: true, Text: c.word, Answer: c.answer},
			report.SizeCell(c.need), report.SizeCell(c.capacity), report.SizeCell(c.capacity - c.need),
		})
	}
	return &report.Report{
		Command: "capture", Subject: "python train.py",
		Verdict:  report.Verdict{Answer: report.Maybe, Word: "fits 1 of 3", Sentence: "H100 80GB; may not fit A100-40GB; does not fit RTX 3090"},
		Sections: []report.Section{{Title: "Cards", Table: table}},
		Notes:    []string{noGPU}, Data: document("may-not-fit", 40*unit.GiB),
	}
}

// ManyDevices is one script on eight devices of one machine.
func ManyDevices() *report.Report {
	r := Fits()
	r.Subject = "torchrun --nproc-per-node 8 train.py"
	line := trainingTimeline(Training(4, 2048), "", h100)
	table := &report.Table{Columns: []report.Column{
		{Name: "device", Kind: report.Count}, {Name: "allocated", Kind: report.Size}, {Name: "reserved", Kind: report.Size},
	}}
	r.Timelines = nil
	for i := range 8 {
		line.Name = fmt.Sprintf("cuda:%d, NVIDIA H100 80GB HBM3", i)
		r.Timelines = append(r.Timelines, line)
		table.Rows = append(table.Rows, []report.Cell{report.CountCell(int64(i)), report.SizeCell(unit.Bytes(i) * unit.GiB), report.SizeCell(9 * unit.GiB)})
	}
	r.Sections = []report.Section{{Title: "Devices", Table: table}}
	return r
}

// Huge has numbers at the end of what there is.
func Huge() *report.Report {
	const most = unit.Bytes(1<<63 - 1)
	return &report.Report{
		Command: "capture", Subject: "python train.py",
		Verdict: report.Verdict{
			Answer: report.No, Word: "does not fit", Sentence: "needs " + most.String(),
			Gauge: report.Gauge{Low: most, Need: most, High: most, Capacity: 1},
		},
		Sections: []report.Section{
			{Title: "Parts", Bars: &report.Bars{Total: most, Of: "all there is", Bars: []report.Bar{
				{Label: "nearly all", Bytes: most - 1}, {Label: "one byte", Bytes: 1}, {Label: "nothing"}, {Label: "less than nothing", Bytes: -most},
			}}},
			{Title: "Values", Table: &report.Table{
				Columns: []report.Column{{Name: "size", Kind: report.Size}, {Name: "count", Kind: report.Count}, {Name: "share", Kind: report.Share}},
				Rows: [][]report.Cell{
					{report.SizeCell(most), report.CountCell(1<<63 - 1), report.ShareCell(1e300)},
					{report.SizeCell(-most), report.CountCell(-1 << 63), report.ShareCell(-1)},
					{{}, {}, {}},
				},
			}, Spark: &report.Spark{Name: "steps", Values: []unit.Bytes{0, most, -most, 1}}},
			{Title: "Shares", Spark: &report.Spark{Name: "busy", Shares: []float64{0, 0.5, math.NaN(), 1, 1e300, -1}, First: "12:00", Last: "12:05"}},
			{Title: "Over time", Chart: &report.Chart{
				Lines: []report.ChartLine{{Name: "busy", Shares: []float64{0, 0.5, math.NaN(), 1, 1e300, -1}}, {Name: "nothing"}, {Name: "unknown", Shares: []float64{math.NaN()}}},
				Bands: []report.ChartBand{{Name: "startup", From: -1, To: 0.5}, {Name: "train", From: 0.5, To: 2}}, First: "12:00", Last: "12:05",
			}},
		},
		Timelines: []report.Timeline{{
			Name: "one event", Events: []int{1 << 40}, Allocated: []unit.Bytes{most}, Reserved: []unit.Bytes{most}, Capacity: 1,
		}},
		Data: document("does-not-fit", most),
	}
}

// attacks are texts that must come out as texts.
var attacks = []string{
	"</script><script>document.title='owned'</script>",
	`<img src=x onerror="document.title='owned'">`,
	"\x1b[2J\x1b]0;owned\x07red\x1b[31m", "line\nbreak\r\ttab", "nul\x00bell\a",
	"abc\u202Egpj.exe", "zero\u200bwidth", "bad\xff\xfeutf8", "日本語のファイル.py", "é combining e\u0301",
	"{{.Data}} `${document}` --> <!-- ]]>", "' \" & \\u003c", "\u2028\u2029", "c1\u009b31mcsi",
}

// Hostile puts attacks into every string that a user's files can reach.
func Hostile() *report.Report {
	r := Fits()
	all := ""
	for _, a := range attacks {
		all += a + " "
	}
	r.Subject, r.Reason, r.Verdict.Sentence, r.Verdict.Method = all, all, attacks[0]+attacks[2], attacks[1]
	r.Remedies = []report.Remedy{{Action: attacks[0], Cost: attacks[2]}}
	r.Notes = []string{all}
	r.Provenance = []report.Fact{{Name: attacks[0], Value: attacks[1]}}
	table := &report.Table{Columns: []report.Column{{Name: attacks[0]}, {Name: "file", Elide: report.CutStart}}}
	bars := &report.Bars{Total: 100, Of: attacks[0]}
	line := &r.Timelines[0]
	line.Name = attacks[0]
	for i, a := range attacks {
		r.Warnings = append(r.Warnings, report.Warning{Code: a, Message: a, Consequence: a})
		table.Rows = append(table.Rows, []report.Cell{report.TextCell(a), report.TextCell("/tmp/" + a)})
		bars.Bars = append(bars.Bars, report.Bar{Label: a, Note: a, Key: a, Bytes: unit.Bytes(i)})
		if layers := line.Views[2].Layers; i < len(layers) {
			layers[i].Name, layers[i].Note, layers[i].Key = a, a, a
		}
	}
	line.Marks[0].Name = attacks[0]
	for i := range line.Bands {
		line.Bands[i].Name = attacks[i%len(attacks)]
	}
	line.Views[1].Name = attacks[1]
	r.Sections = []report.Section{
		{Title: all, Lead: all, Table: table, Text: all},
		{Title: attacks[0], Bars: bars, Facts: []report.Fact{{Name: all, Value: all}}},
	}
	r.Data = map[string]any{"schema": "plimsoll.capture/1", "file": attacks}
	return r
}
