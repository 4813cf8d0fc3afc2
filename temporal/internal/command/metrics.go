package command

import (
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/observe/measure"
)

// serveMetrics measures the runs of a worker and serves the metrics over HTTP until stop is
// called. Without an address it does nothing. Without a host in it, it listens on the loopback
// address only.
func serveMetrics(c *engine.Config, address string) (stop func(), err error) {
	if address == "" {
		return func() {}, nil
	}
	program, err := measure.NewProgram(measure.Options{Version: ui.ThisBuild().Version})
	if err != nil {
		return nil, err
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, ui.Usage(fmt.Errorf("--metrics-addr %s: %w", address, err), nil)
	}
	if host == "" {
		host = "localhost"
	}
	l, err := net.Listen("tcp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, ui.Usage(fmt.Errorf("--metrics-addr %s: %w", address, err), nil)
	}
	c.Observers = append(c.Observers, program.Observe)
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", program.Handler())
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go server.Serve(l) // ends with Close
	return func() { server.Close() }, nil
}
