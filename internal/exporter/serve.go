package exporter

import (
	"fmt"
	"html"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Handler answers /metrics in the text format of Prometheus or as OpenMetrics,
// whichever is asked for; /healthz while the process lives; /readyz while there are
// fresh values; and / with links to them.
func (e *Exporter) Handler() (http.Handler, error) {
	registry := prometheus.NewRegistry()
	if err := registry.Register(e); err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{EnableOpenMetrics: true, MaxRequestsInFlight: 8, ErrorHandling: promhttp.ContinueOnError}))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		ready, why := e.Ready()
		if !ready {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		fmt.Fprintln(w, why)
	})
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		_, why := e.Ready()
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, landing, html.EscapeString(e.o.Version), html.EscapeString(e.o.Source), html.EscapeString(why))
	})
	return mux, nil
}

const landing = `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>plimsoll exporter</title>
<h1>plimsoll exporter</h1>
<p>Version %s, asks %s; now: %s.</p>
<ul>
<li><a href="/metrics">/metrics</a>: for Prometheus</li>
<li><a href="/healthz">/healthz</a>: whether the exporter runs</li>
<li><a href="/readyz">/readyz</a>: whether it has fresh values</li>
</ul>
</html>
`
