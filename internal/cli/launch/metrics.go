package launch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/observe/measure"
)

// metricsInterval is how often --metrics-file is written during a run.
const metricsInterval = 3 * time.Second

// metricsExporter exports the metrics of one run to Prometheus.
type metricsExporter struct {
	program *measure.Program
	started atomic.Bool // the run has started, so there are metrics to show
	file    string      // --metrics-file, or ""
	server  *http.Server
	done    chan struct{}
	work    sync.WaitGroup
}

// MetricsFlags are --metrics-file and --metrics-addr; "" means that the flag was not given.
type MetricsFlags struct{ File, Addr string }

// NewEngine returns the engine of one run. It exports metrics if a flag asks for it. Call done when
// the run has ended. A file or address that cannot be used is a usage error, which is returned
// before anything has started.
func NewEngine(env *ui.Env, config engine.Config, f MetricsFlags) (_ *engine.Engine, done func(), err error) {
	if f.File == "" && f.Addr == "" {
		return engine.New(config), func() {}, nil
	}
	var eng *engine.Engine // assigned before anything can call Load
	program, err := measure.NewProgram(measure.Options{Version: ui.ThisBuild().Version, Load: func() (int, int) { return eng.Load() }})
	if err != nil {
		return nil, nil, err
	}
	m := &metricsExporter{program: program, file: f.File, done: make(chan struct{})}
	config.Observers = append(config.Observers, program.Observe)
	config.Sinks = append(config.Sinks, dag.SinkFunc(func(dag.Event) { m.started.Store(true) }))
	config.Journal = program.Journal
	eng = engine.New(config)
	if err := checkWritable(m.file); err != nil {
		return nil, nil, ui.Usage(fmt.Errorf("--metrics-file %s: %w", m.file, err), nil)
	}
	if err := serveMetrics(env, m, f.Addr); err != nil {
		return nil, nil, ui.Usage(fmt.Errorf("--metrics-addr %s: %w", f.Addr, err), nil)
	}
	m.work.Go(m.writePeriodically)
	return eng, func() {
		if err := m.close(); err != nil {
			env.Notef("%v", err)
		}
	}, nil
}

// checkWritable checks whether a file can be created or replaced.
func checkWritable(file string) error {
	if file == "" {
		return nil
	}
	st, err := os.Lstat(file)
	switch {
	case err == nil && !st.Mode().IsRegular():
		return errors.New("not a regular file; give another path")
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	try, err := os.CreateTemp(filepath.Dir(file), ".flowrun-")
	if err != nil {
		if file, ok := errors.AsType[*fs.PathError](err); ok {
			err = file.Err // without the name of the temporary file
		}
		return fmt.Errorf("cannot write the file: %w; give a file in an existing folder that you can write to", err)
	}
	return errors.Join(try.Close(), os.Remove(try.Name()))
}

// serveMetrics serves the metrics over HTTP until the run has ended. Without a host in addr, it
// listens on the loopback address only.
func serveMetrics(env *ui.Env, m *metricsExporter, addr string) error {
	if addr == "" {
		return nil
	}
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("%w; give HOST:PORT, or :PORT for this machine only", err)
	}
	l, err := net.Listen("tcp", net.JoinHostPort(cmp.Or(host, "127.0.0.1"), port))
	if err != nil {
		return fmt.Errorf("cannot serve metrics: %w; choose another port, or 0 for any free port", err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", m.program.Handler())
	m.server = &http.Server{Handler: mux, ReadTimeout: 10 * time.Second, WriteTimeout: 20 * time.Second, IdleTimeout: time.Minute,
		MaxHeaderBytes: 64 << 10, ErrorLog: log.New(io.Discard, "", 0)}
	m.work.Go(func() { m.server.Serve(l) }) // returns after Shutdown or Close
	if port == "0" {
		env.Notef("metrics at http://%s/metrics", l.Addr())
	}
	return nil
}

// writePeriodically writes the file at intervals. It ignores errors, because close writes the file
// again and reports them.
func (m *metricsExporter) writePeriodically() {
	tick := time.NewTicker(metricsInterval)
	defer tick.Stop()
	for {
		select {
		case <-m.done:
			return
		case <-tick.C:
			_ = m.write()
		}
	}
}

// write writes the file. If the run has not started, the file of the previous run is kept.
func (m *metricsExporter) write() error {
	if m.file == "" || !m.started.Load() {
		return nil
	}
	return m.program.WriteFile(m.file)
}

// close writes the file for the last time, and gives requests in progress one second to finish.
func (m *metricsExporter) close() error {
	close(m.done)
	if m.server != nil {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if m.server.Shutdown(ctx) != nil {
			m.server.Close()
		}
	}
	m.work.Wait()
	return m.write()
}
