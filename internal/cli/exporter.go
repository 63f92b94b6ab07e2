package cli

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/spf13/cobra"

	"github.com/plimsoll-dev/plimsoll/internal/exporter"
	"github.com/plimsoll-dev/plimsoll/internal/listen"
	"github.com/plimsoll-dev/plimsoll/series"
)

// exporterOptions is what `plimsoll exporter` was asked.
type exporterOptions struct {
	watchedOptions
	Listen    string
	DCGM      bool
	Processes int
}

func newExporterCommand(stdio IO) *cobra.Command {
	var o exporterOptions
	cmd := &cobra.Command{
		Use:   "exporter",
		Short: "Serve GPUs, the processes on them and why they idle to Prometheus",
		Long: `Serve what plimsoll top shows to Prometheus, in its text format or as OpenMetrics,
until Ctrl-C: GPUs, the host, the processes that hold most memory if asked for,
causes why GPUs idle, and GPU time lost by cause.

A scrape never asks the driver: samples are taken beside it, and the newest one is
served with its age. What is not known has no series; it is never 0.

/metrics is for Prometheus, /healthz says that the exporter runs, /readyz that it
has fresh values. There is no password and no TLS: listen on an address that only
your Prometheus reaches, or put a proxy in front.`,
		Example: `  plimsoll exporter
  plimsoll exporter --listen 127.0.0.1:9860 --processes 20 --dcgm-names
  plimsoll exporter --demo`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runExporter(cmd.Context(), stdio, o)
		},
	}
	o.addFlags(cmd)
	f := cmd.Flags()
	f.StringVar(&o.Listen, "listen", ":9860", "`ADDRESS` to answer on; :9860 is every address of this machine")
	f.BoolVar(&o.DCGM, "dcgm-names", false, "serve the metrics of dcgm-exporter, too, where they mean the same")
	f.IntVar(&o.Processes, "processes", 0, "serve the `N` processes that hold most memory, one by one")
	return cmd
}

func runExporter(ctx context.Context, stdio IO, o exporterOptions) error {
	if o.Processes < 0 {
		return fmt.Errorf("--processes %d is less than none", o.Processes)
	}
	m, err := o.open(ctx, stdio)
	if err != nil {
		return err
	}
	defer m.stop()
	e := exporter.New(exporter.Options{
		Version: buildVersion().Version, Source: m.source(), Processes: o.Processes, DCGM: o.DCGM,
		Fresh: max(30*time.Second, 5*o.Interval), Now: stdio.Now,
	})
	handler, err := e.Handler()
	if err != nil {
		return err
	}
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", o.Listen)
	if err != nil {
		return WithHint(fmt.Errorf("listen on %s: %w", o.Listen, err), "--listen takes another address, as :9861")
	}
	fmt.Fprintf(stdio.Err, "serving http://%s/metrics\n", l.Addr())
	sampling, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		m.run(sampling, func(s series.Sample) { e.Observe(s) })
	}()
	err = listen.Serve(ctx, l, handler)
	cancel()
	<-ended
	return err
}
