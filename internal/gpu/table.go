package gpu

import (
	_ "embed" // for the tables
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/plimsoll-dev/plimsoll/unit"
)

// gpusCSV has one row a card. CONTRIBUTING.md says how to add one.
//
//go:embed gpus.csv
var gpusCSV string

// sourcesCSV names every document that gpus.csv refers to.
//
//go:embed sources.csv
var sourcesCSV string

// All returns every card in the table's order: by maker and generation.
// The caller may keep it but must not change it.
func All() []Card { return table() }

// table parses the embedded files once. They are part of the program, so a
// mistake in them is a broken invariant, which the tests of this package find.
var table = sync.OnceValue(func() []Card {
	sources, err := readSources(sourcesCSV)
	if err != nil {
		panic("sources.csv: " + err.Error())
	}
	cards, err := readCards(gpusCSV, sources)
	if err != nil {
		panic("gpus.csv: " + err.Error())
	}
	return cards
})

// readRecords returns the rows of text as column -> cell.
func readRecords(text string) ([]map[string]string, error) {
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("no header")
	}
	records := make([]map[string]string, 0, len(rows)-1)
	for _, row := range rows[1:] {
		record := make(map[string]string, len(row))
		for i, cell := range row {
			record[rows[0][i]] = cell
		}
		records = append(records, record)
	}
	return records, nil
}

func readSources(text string) (map[string]Source, error) {
	records, err := readRecords(text)
	if err != nil {
		return nil, err
	}
	sources := make(map[string]Source, len(records))
	for _, r := range records {
		if _, taken := sources[r["id"]]; taken || r["id"] == "" || r["title"] == "" {
			return nil, fmt.Errorf("source %q is empty or there twice", r["id"])
		}
		sources[r["id"]] = Source{ID: r["id"], Title: r["title"], Where: r["where"], Derived: r["derived"] == "yes"}
	}
	return sources, nil
}

func readCards(text string, sources map[string]Source) ([]Card, error) {
	records, err := readRecords(text)
	if err != nil {
		return nil, err
	}
	cards := make([]Card, 0, len(records))
	for _, r := range records {
		row := rowReader{cells: r, sources: sources}
		card := row.card()
		if row.err != nil {
			return nil, fmt.Errorf("%s: %w", r["name"], row.err)
		}
		card.known = knownWords(card)
		cards = append(cards, card)
	}
	return cards, nil
}

// rowReader turns cells into fields and keeps the first thing that is wrong.
type rowReader struct {
	cells   map[string]string
	sources map[string]Source
	err     error
}

func (r *rowReader) card() Card {
	c := Card{
		Name:                  r.text("name"),
		Family:                r.text("family"),
		Aliases:               split(r.text("aliases"), "|"),
		Vendor:                r.text("vendor"),
		Arch:                  r.text("arch"),
		DeviceName:            r.text("device_name"),
		CapabilityName:        r.text("compute_capability"),
		Multiprocessors:       r.whole("multiprocessors"),
		MultiprocessorsSource: r.source("multiprocessors_source"),
		CapacityDriver:        r.text("capacity_driver"),
		L2:                    unit.Bytes(r.whole("l2_bytes")),
		DriverMiB:             r.whole("driver_total_mib"),
		Marketed:              r.whole("memory_marketing_gb"),
		MemoryType:            r.text("memory_type"),
		PCIe:                  r.text("pcie"),
		Watts:                 r.whole("tdp_w"),
		Notes:                 r.text("notes"),
		preference:            r.whole("preference"),
		words:                 split(r.text("words"), " "),
		Rates: Rates{
			Bandwidth:    r.rate("bandwidth_gb_s"),
			Interconnect: r.rate("interconnect_gb_s_bidir"),
			FP32:         r.rate("fp32_tflops"),
			TF32:         r.rate("tf32_tflops_dense"),
			FP16:         r.rate("fp16_tflops_dense"),
			BF16:         r.rate("bf16_tflops_dense"),
			FP8:          r.rate("fp8_tflops_dense"),
		},
		CapacityRange: Interval{
			Low:     unit.Bytes(r.whole("capacity_low_bytes")),
			Typical: unit.Bytes(r.whole("capacity_bytes")),
			High:    unit.Bytes(r.whole("capacity_high_bytes")),
			Source:  r.source("capacity_source"),
		},
	}
	c.Capacity = c.CapacityRange.Typical
	if c.Vendor == "NVIDIA" {
		c.Capability = r.capability()
		c.Limits = limits[c.Capability]
		c.Context = contexts[c.Capability]
	}
	return c
}

func (r *rowReader) text(column string) string { return r.cells[column] }

func (r *rowReader) whole(column string) int {
	cell := r.cells[column]
	if cell == "" {
		return 0
	}
	n, err := strconv.Atoi(cell)
	r.keep(column, err)
	return n
}

// rate reads a number; an empty cell is a rate that the card lacks or that is
// not known.
func (r *rowReader) rate(column string) float64 {
	cell := r.cells[column]
	if cell == "" {
		return 0
	}
	x, err := strconv.ParseFloat(cell, 64)
	r.keep(column, err)
	return x
}

func (r *rowReader) source(column string) Source {
	id := r.cells[column]
	if id == "" {
		return Source{}
	}
	s, ok := r.sources[id]
	if !ok {
		r.keep(column, fmt.Errorf("source %q is not in sources.csv", id))
	}
	return s
}

// capability turns "12.0" into 120.
func (r *rowReader) capability() int {
	major, minor, ok := strings.Cut(r.cells["compute_capability"], ".")
	if !ok {
		r.keep("compute_capability", fmt.Errorf("%q has no point", major))
		return 0
	}
	n, err := strconv.Atoi(major + minor)
	r.keep("compute_capability", err)
	return n
}

func (r *rowReader) keep(column string, err error) {
	if err != nil && r.err == nil {
		r.err = fmt.Errorf("%s: %w", column, err)
	}
}

func split(s, sep string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, sep)
}
