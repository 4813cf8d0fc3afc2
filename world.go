package flowrun

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/flowrun/flowrun/hooks"
	"github.com/flowrun/flowrun/internal/home"
)

// World is what a run may know of its surroundings. The zero value is the
// process's own, now.
type World struct {
	Workspace string   // {WORKSPACE}, the directory steps start in; "" = the working directory
	Home      string   // {HOME}
	Temp      string   // {TEMP}, the system's temporary directory
	Env       []string // K=V, the process environment of steps; nil = os.Environ()
	// Time is when the run starts; {DATE}, {TIME} and {TIMESTAMP} are that, in UTC,
	// for the whole run.
	Time time.Time
	// AllowDash lets callers' values begin with a dash everywhere (run --allow-dash).
	AllowDash bool
	// JavaScript runs the scripts of definitions; whoever gives it closes it. nil: an
	// Engine gives its own, and Plan.Bind and Plan.Preview make one for the time they take.
	JavaScript *hooks.Runtime

	ctx     context.Context // see Until; nil: context.Background()
	env     map[string]string
	fetch   func(context.Context, FetchRequest) (*FetchAnswer, error) // of scripts; nil: none
	mayCall func([]UsedTool) error                                    // of scripts; nil: any
}

// Until is the world for work that ends when ctx does: Plan.Bind and Plan.Preview then
// return its cause. Engine.Run goes by its own context.
func (w World) Until(ctx context.Context) World {
	w.ctx = ctx
	return w
}

func (w *World) context() context.Context {
	if w.ctx == nil {
		return context.Background()
	}
	return w.ctx
}

// filled is a copy with every gap filled from the process.
func (w World) filled() *World {
	if w.Workspace == "" {
		w.Workspace, _ = os.Getwd()
	}
	if w.Home == "" {
		w.Home, _ = home.Dir()
	}
	if w.Temp == "" {
		w.Temp = os.TempDir()
	}
	if w.Env == nil {
		w.Env = os.Environ()
	}
	if w.Time.IsZero() {
		w.Time = time.Now()
	}
	w.Time = w.Time.UTC()
	w.env = make(map[string]string, len(w.Env))
	for _, kv := range w.Env {
		k, v, _ := strings.Cut(kv, "=")
		w.env[k] = v
	}
	return &w
}

// variable is the value of a predefined variable (S1-126), false for another name.
func (w *World) variable(name, toolName string) (string, bool) {
	switch name {
	case "TOOL_NAME":
		return toolName, true
	case "WORKSPACE":
		return w.Workspace, true
	case "TEMP":
		return w.Temp, true
	case "HOME":
		return w.Home, true
	case "OS":
		return platform(), true
	case "DATE":
		return w.Time.Format(time.DateOnly), true
	case "TIME":
		return w.Time.Format(time.TimeOnly), true
	case "TIMESTAMP":
		return w.Time.Format("2006-01-02T15:04:05Z"), true
	}
	return "", false
}

// resolve makes a directory absolute: ~ is home, anything relative counts from
// the workspace.
func (w *World) resolve(dir string) string {
	switch {
	case dir == "~":
		return w.Home
	case strings.HasPrefix(dir, "~/"):
		return filepath.Join(w.Home, dir[2:])
	case filepath.IsAbs(dir):
		return filepath.Clean(dir)
	}
	return filepath.Join(w.Workspace, dir)
}
