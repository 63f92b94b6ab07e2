package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/plimsoll-dev/plimsoll/internal/catalog"
	"github.com/plimsoll-dev/plimsoll/internal/report"
)

// modelsOptions is what `plimsoll models` was asked.
type modelsOptions struct {
	Output
	Filter string // text that a model's name, id or family must hold
}

func newModelsCommand(stdio IO) *cobra.Command {
	var o modelsOptions
	cmd := &cobra.Command{
		Use:   "models [FILTER]",
		Short: "List the models that Plimsoll knows by name",
		Long: `List the models that plimsoll estimate knows by name, with their parameters and
the tasks that their heads can be for.

With a FILTER, only those whose name, hub id or family holds it. Other models
of the same families are read from their config.json or from the hub.`,
		Example: "  plimsoll models\n  plimsoll models llama\n  plimsoll models vit --format json",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 {
				o.Filter = args[0]
			}
			return runModels(stdio, newCatalog(stdio), o)
		},
	}
	o.addFlags(cmd, "text", "json")
	return cmd
}

func runModels(stdio IO, known modelFinder, o modelsOptions) error {
	if err := o.validate(); err != nil {
		return err
	}
	list := []catalog.Entry{}
	for _, m := range known.List() {
		if holds(m, o.Filter) {
			list = append(list, m)
		}
	}
	if len(list) == 0 && o.Filter != "" {
		return WithHint(fmt.Errorf("no model's name or family holds %q", o.Filter), "plimsoll models lists all; plimsoll estimate takes hub ids and config.json files, too")
	}
	render := renderModelsText
	if o.Format == "json" {
		render = renderModelsJSON
	}
	return o.write(stdio, func(w io.Writer) error { return render(w, list) })
}

// holds reports whether a model is meant by a filter, whatever its case.
func holds(m catalog.Entry, filter string) bool {
	filter = strings.ToLower(filter)
	for _, s := range []string{m.Name, m.Hub, m.Family} {
		if strings.Contains(strings.ToLower(s), filter) {
			return true
		}
	}
	return false
}

func renderModelsText(w io.Writer, list []catalog.Entry) error {
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tab, "parameters\t  model\t  family\t  tasks")
	for _, m := range list {
		tasks := make([]string, len(m.Tasks))
		for i, t := range m.Tasks {
			tasks[i] = string(t)
		}
		fmt.Fprintf(tab, "%s\t  %s\t  %s\t  %s\n", report.Grouped(m.Parameters), m.Name, m.Family, strings.Join(tasks, ", "))
	}
	return tab.Flush()
}

// modelsDocument is `plimsoll models --format json`.
type modelsDocument struct {
	Schema string          `json:"schema"`
	Models []catalog.Entry `json:"models"`
}

func renderModelsJSON(w io.Writer, list []catalog.Entry) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(modelsDocument{"plimsoll.models/1", list})
}

// modelNames completes the name of a model.
func modelNames(known modelFinder) []cobra.Completion {
	var names []cobra.Completion
	for _, m := range known.List() {
		names = append(names, m.Name)
	}
	return names
}
