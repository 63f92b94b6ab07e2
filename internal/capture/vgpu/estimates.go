package vgpu

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// An Estimate is a size that only NVIDIA's library knows and for which the
// virtual GPU gives a rule's value. csrc/estimates.h is the table.
type Estimate struct {
	Name      string // "cudnn_rnn_reserve"
	Low, High int    // interval of the truth in percent of the rule's value; 0, 0: the rule is a ceiling
	Rule      string // in words, bytes or elements
	Source    string // what the rule rests on, or that it is an estimate
}

// Estimates lists every rule in the table's order.
func Estimates() ([]Estimate, error) {
	text, err := sources.ReadFile("csrc/estimates.h")
	if err != nil {
		return nil, fmt.Errorf("read estimates: %w", err)
	}
	all, err := parseEstimates(strings.ReplaceAll(string(text), "\\\n", " "))
	if err != nil {
		return nil, fmt.Errorf("read estimates: %w", err)
	}
	return all, nil
}

var (
	estimateDefine = regexp.MustCompile(`(?m)^#define (VGPU_[A-Z_]+) "([^"]*)"$`)
	estimateRow    = regexp.MustCompile(`_\([A-Z_]+, "([a-z_]+)", (\d+), (\d+),((?:\s*(?:"[^"]*"|VGPU_[A-Z_]+))+),((?:\s*(?:"[^"]*"|VGPU_[A-Z_]+))+)\)`)
	estimateWord   = regexp.MustCompile(`"([^"]*)"|(VGPU_[A-Z_]+)`)
)

// parseEstimates reads rows whose text is made of strings and of names that
// stand for strings, as the C compiler joins them.
func parseEstimates(text string) ([]Estimate, error) {
	names := map[string]string{}
	for _, m := range estimateDefine.FindAllStringSubmatch(text, -1) {
		names[m[1]] = m[2]
	}
	var all []Estimate
	for _, m := range estimateRow.FindAllStringSubmatch(text, -1) {
		low, errLow := strconv.Atoi(m[2])
		high, errHigh := strconv.Atoi(m[3])
		if errLow != nil || errHigh != nil {
			return nil, fmt.Errorf("%s: interval %s to %s", m[1], m[2], m[3])
		}
		all = append(all, Estimate{Name: m[1], Low: low, High: high, Rule: joinText(m[4], names), Source: joinText(m[5], names)})
	}
	return all, nil
}

func joinText(text string, names map[string]string) string {
	var b strings.Builder
	for _, m := range estimateWord.FindAllStringSubmatch(text, -1) {
		b.WriteString(m[1] + names[m[2]])
	}
	return b.String()
}
