package cli

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/plimsoll-dev/plimsoll/internal/gpu"
)

// parseGPUs reads the value of --gpu: one name, or several joined by commas,
// each with an optional number of devices ("h100x8,3090").
func parseGPUs(value string) ([]gpu.Choice, error) {
	var choices []gpu.Choice
	for name := range strings.SplitSeq(value, ",") {
		choice, err := gpu.Lookup(strings.TrimSpace(name))
		if err == nil {
			err = choice.Card.Capturable()
		}
		if err != nil {
			return nil, gpuHint(err)
		}
		choices = append(choices, choice)
	}
	return choices, nil
}

// gpuHint adds what to try to an error of gpu.Lookup.
func gpuHint(err error) error {
	if _, ok := errors.AsType[*gpu.AmbiguousError](err); ok {
		return WithHint(err, "give the full name of one of them")
	}
	if unknown, ok := errors.AsType[*gpu.UnknownError](err); ok {
		if len(unknown.Nearest) == 0 {
			return WithHint(err, "plimsoll gpus lists the cards")
		}
		names := make([]string, len(unknown.Nearest))
		for i, c := range unknown.Nearest {
			names[i] = c.Name
		}
		return WithHint(err, "near it: "+strings.Join(names, ", ")+"; plimsoll gpus lists all")
	}
	return err
}

// completeGPU completes --gpu in every shell: names of cards, the number of
// devices after a whole name ("h100x8"), and lists joined by commas.
func completeGPU(_ *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	done, last := "", typed
	if i := strings.LastIndex(typed, ","); i >= 0 {
		done, last = typed[:i+1], typed[i+1:]
	}
	names := gpuFamilies()
	if slices.Contains(names, strings.ToLower(last)) || strings.HasSuffix(last, "x") {
		base := strings.TrimSuffix(strings.ToLower(last), "x")
		for _, n := range []string{"2", "4", "8"} {
			names = append(names, base+"x"+n)
		}
	}
	var found []cobra.Completion
	for _, name := range names {
		if strings.HasPrefix(name, strings.ToLower(last)) {
			found = append(found, done+name)
		}
	}
	return found, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// gpuFamilies is a short spelling of every card that can be captured, without
// spaces, and each found by gpu.Lookup.
func gpuFamilies() []cobra.Completion {
	var names []cobra.Completion
	for _, c := range gpu.All() {
		if c.Capturable() == nil {
			names = append(names, c.ShortNames()...)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
