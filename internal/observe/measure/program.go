package measure

import (
	"fmt"
	"maps"
	"net/http"
	"slices"

	"github.com/flowrun/flowrun/internal/observe/series"
	"github.com/flowrun/flowrun/internal/os/atomicfile"
)

// Program is the Metrics of a program that has no registry of its own.
type Program struct{ *Metrics }

// NewProgram creates a Metrics for a program.
func NewProgram(o Options) (*Program, error) {
	m, err := New(o)
	return &Program{m}, err
}

// Handler serves all series, including those of the process and of the Go runtime.
func (p *Program) Handler() http.Handler { return series.Handler(p.registry.Families, series.Runtime) }

// Known makes the series of a tool and of its steps, all of them 0, so that the first failure is an increase. steps are the
// paths of the steps, without attempts and items. Half of Options.Limit is left to what runs.
func (p *Program) Known(tool string, steps []string) {
	p.mu.Lock()
	moreTools, moreSteps := p.limit/2-len(p.tools), p.limit/2-len(p.steps)
	p.mu.Unlock()
	if moreTools <= 0 {
		return
	}
	p.tool(tool)
	for _, s := range steps[:max(0, min(len(steps), moreSteps))] {
		p.step(pair{tool, s})
	}
}

// known returns the tools that have series of their own.
func (p *Program) known() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Collect(maps.Keys(p.tools))
}

// WriteFile writes the series of flowrun to a file for node_exporter's textfile collector.
// The file is replaced atomically and readable for everyone. The series of the process are
// not included, because node_exporter has series of the same names.
func (p *Program) WriteFile(path string) error {
	file := atomicfile.File{Path: path, Mode: 0o644, Exact: true, Unsynced: true} // the next metrics replace these soon
	if err := file.WriteText(series.WriteText(p.registry.Families())); err != nil {
		return fmt.Errorf("cannot write the metrics to %s: %w; choose a file in an existing, writable folder", path, err)
	}
	return nil
}
