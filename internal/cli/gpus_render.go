package cli

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"

	"github.com/plimsoll-dev/plimsoll/internal/gpu"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// renderGPUsText writes one line a card. A size that was derived from a rounded
// number is marked, since it is not right to the byte.
func renderGPUsText(w io.Writer, cards []gpu.Card) error {
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tab, "capacity\tcontext\tmultiprocessors\tcapability\t  --gpu\t  card")
	for _, c := range cards {
		fmt.Fprintf(tab, "%s\t%s\t%s\t%s\t%s\t  %s\n",
			gib(c), mebibytes(c.Context), multiprocessors(c), dash(c.CapabilityName), typed(c), c.Name)
	}
	if err := tab.Flush(); err != nil {
		return err
	}
	fmt.Fprint(w, `
capacity  GiB, as CUDA reports it; ~ marks what was not read from a card exactly
context   MiB that a process takes beside PyTorch's allocator: low-high
`)
	for _, l := range gpu.Libraries() {
		fmt.Fprintf(w, "          %s more, %s, when %s\n", mebibytes(l.Memory), l.Name, l.When)
	}
	_, err := fmt.Fprintln(w, "Sources of every number: --format json")
	return err
}

func gib(c gpu.Card) string {
	if c.Capacity == 0 {
		return "–"
	}
	s := strconv.FormatFloat(float64(c.Capacity)/float64(unit.GiB), 'f', 2, 64)
	if c.Exact() {
		return s
	}
	return "~" + s
}

// typed is the shortest way to ask for the card, or a dash where --gpu refuses
// it.
func typed(c gpu.Card) string {
	if c.Capturable() != nil {
		return "–"
	}
	return c.ShortNames()[0]
}

func mebibytes(i gpu.Interval) string {
	if i.High == 0 {
		return "–"
	}
	return fmt.Sprintf("%d-%d", i.Low/unit.MiB, i.High/unit.MiB)
}

func multiprocessors(c gpu.Card) string {
	switch {
	case c.Multiprocessors == 0:
		return "–"
	case c.MultiprocessorsSource.Derived:
		return "~" + strconv.Itoa(c.Multiprocessors)
	}
	return strconv.Itoa(c.Multiprocessors)
}

func dash(s string) string {
	if s == "" {
		return "–"
	}
	return s
}

// gpusDocument is `plimsoll gpus --format json`; schema/gpus.schema.json
// describes it.
type gpusDocument struct {
	Schema    string            `json:"schema"`
	GPUs      []gpuDocument     `json:"gpus"`
	Libraries []libraryDocument `json:"libraries"`
}

// libraryDocument is memory outside PyTorch's allocator that some programs
// take.
type libraryDocument struct {
	Name   string           `json:"name"`
	When   string           `json:"when"`
	Memory intervalDocument `json:"memory"`
}

// gpuDocument is one card. A number that is not known is left out.
type gpuDocument struct {
	Name                     string            `json:"name"`
	DeviceName               string            `json:"device_name,omitempty"`
	Vendor                   string            `json:"vendor"`
	Arch                     string            `json:"arch,omitempty"`
	Capability               string            `json:"compute_capability,omitempty"`
	Default                  bool              `json:"default"`
	Capturable               bool              `json:"capturable"`
	CapacityBytes            unit.Bytes        `json:"capacity_bytes,omitempty"`
	Capacity                 *intervalDocument `json:"capacity,omitempty"`
	CapacityDriver           string            `json:"capacity_driver,omitempty"`
	Multiprocessors          int               `json:"multiprocessors,omitempty"`
	MultiprocessorsSource    *sourceDocument   `json:"multiprocessors_source,omitempty"`
	ThreadsPerMultiprocessor int               `json:"threads_per_multiprocessor,omitempty"`
	SharedPerBlockBytes      unit.Bytes        `json:"shared_memory_per_block_bytes,omitempty"`
	SharedBytes              unit.Bytes        `json:"shared_memory_per_multiprocessor_bytes,omitempty"`
	LimitsSource             *sourceDocument   `json:"limits_source,omitempty"`
	L2Bytes                  unit.Bytes        `json:"l2_bytes,omitempty"`
	Context                  *intervalDocument `json:"context,omitempty"`
	Notes                    string            `json:"notes,omitempty"`
}

type intervalDocument struct {
	LowBytes     unit.Bytes     `json:"low_bytes"`
	TypicalBytes unit.Bytes     `json:"typical_bytes"`
	HighBytes    unit.Bytes     `json:"high_bytes"`
	Exact        bool           `json:"exact"`
	Source       sourceDocument `json:"source"`
}

type sourceDocument struct {
	Title string `json:"title"`
	Where string `json:"where,omitempty"`
}

func renderGPUsJSON(w io.Writer, cards []gpu.Card) error {
	doc := gpusDocument{Schema: "plimsoll.gpus/1", GPUs: []gpuDocument{}}
	for _, c := range cards {
		doc.GPUs = append(doc.GPUs, documentOf(c))
	}
	for _, l := range gpu.Libraries() {
		doc.Libraries = append(doc.Libraries, libraryDocument{l.Name, l.When, *intervalOf(l.Memory, false)})
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(doc)
}

func documentOf(c gpu.Card) gpuDocument {
	doc := gpuDocument{
		Name:            c.Name,
		DeviceName:      c.DeviceName,
		Vendor:          c.Vendor,
		Arch:            c.Arch,
		Capability:      c.CapabilityName,
		Default:         c.Default(),
		Capturable:      c.Capturable() == nil,
		CapacityBytes:   c.Capacity,
		CapacityDriver:  c.CapacityDriver,
		Multiprocessors: c.Multiprocessors,
		L2Bytes:         c.L2,
		Notes:           c.Notes,
	}
	if c.Capacity > 0 {
		doc.Capacity = intervalOf(c.CapacityRange, c.Exact())
	}
	if c.Multiprocessors > 0 {
		doc.MultiprocessorsSource = sourceOf(c.MultiprocessorsSource)
	}
	if c.Limits.ThreadsPerMultiprocessor > 0 {
		doc.ThreadsPerMultiprocessor = c.Limits.ThreadsPerMultiprocessor
		doc.SharedPerBlockBytes = c.Limits.SharedMemoryPerBlock
		doc.SharedBytes = c.Limits.SharedMemory
		doc.LimitsSource = sourceOf(gpu.LimitsSource())
	}
	if c.Context.High > 0 {
		doc.Context = intervalOf(c.Context, false)
	}
	return doc
}

func intervalOf(i gpu.Interval, exact bool) *intervalDocument {
	return &intervalDocument{i.Low, i.Typical, i.High, exact, *sourceOf(i.Source)}
}

func sourceOf(s gpu.Source) *sourceDocument {
	return &sourceDocument{s.Title, s.Where}
}

// gpuColumns are the columns of --format csv, for spreadsheets.
var gpuColumns = []struct {
	name string
	cell func(gpu.Card) string
}{
	{"name", func(c gpu.Card) string { return c.Name }},
	{"device_name", func(c gpu.Card) string { return c.DeviceName }},
	{"vendor", func(c gpu.Card) string { return c.Vendor }},
	{"arch", func(c gpu.Card) string { return c.Arch }},
	{"compute_capability", func(c gpu.Card) string { return c.CapabilityName }},
	{"capacity_bytes", func(c gpu.Card) string { return known(int64(c.Capacity)) }},
	{"capacity_low_bytes", func(c gpu.Card) string { return known(int64(c.CapacityRange.Low)) }},
	{"capacity_high_bytes", func(c gpu.Card) string { return known(int64(c.CapacityRange.High)) }},
	{"capacity_exact", func(c gpu.Card) string { return strconv.FormatBool(c.Exact()) }},
	{"context_low_bytes", func(c gpu.Card) string { return known(int64(c.Context.Low)) }},
	{"context_typical_bytes", func(c gpu.Card) string { return known(int64(c.Context.Typical)) }},
	{"context_high_bytes", func(c gpu.Card) string { return known(int64(c.Context.High)) }},
	{"multiprocessors", func(c gpu.Card) string { return known(int64(c.Multiprocessors)) }},
	{"threads_per_multiprocessor", func(c gpu.Card) string { return known(int64(c.Limits.ThreadsPerMultiprocessor)) }},
	{"memory_type", func(c gpu.Card) string { return c.MemoryType }},
	{"notes", func(c gpu.Card) string { return c.Notes }},
}

func renderGPUsCSV(w io.Writer, cards []gpu.Card) error {
	out := csv.NewWriter(w)
	row := make([]string, len(gpuColumns))
	for i, column := range gpuColumns {
		row[i] = column.name
	}
	out.Write(row) //nolint:errcheck // kept by the writer, told by Error
	for _, c := range cards {
		for i, column := range gpuColumns {
			row[i] = column.cell(c)
		}
		out.Write(row) //nolint:errcheck // kept by the writer, told by Error
	}
	out.Flush()
	return out.Error()
}

// known writes a number, and nothing for one that is not known.
func known(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}
