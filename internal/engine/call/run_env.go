package call

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/js/jsrun"
	"github.com/flowrun/flowrun/internal/os/home"
)

// RunEnv is what a call may know of its surroundings. The zero value, once filled, is that of the process, at the
// current time.
type RunEnv struct {
	Workspace  string   // {WORKSPACE}, the directory steps start in
	Home       string   // {HOME}
	Temp       string   // {TEMP}
	Env        []string // K=V
	Time       time.Time
	Own        []string       // folders with flowrun's own state and settings
	Project    string         // the project that the user trusts, "" for none: see EnforceModels
	AllowDash  bool           // all values of callers may begin with a dash
	JavaScript *jsrun.Runtime // nil: see WithScripts

	Vars     map[string]string                                         // Env by name
	Fetch    func(context.Context, FetchRequest) (*FetchAnswer, error) // for scripts; nil for none
	Database func(context.Context, DatabaseRequest) (Database, error)  // for steps of kind sql; nil for none
	MayCall  func([]plan.UsedTool) error                               // for scripts; nil allows all
	Model    *Model                                                    // for scripts; nil for none
	State    StateReader                                               // for previews; nil for none
}

// Filled fills every gap from the process and returns w.
func (w *RunEnv) Filled() *RunEnv {
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
	w.Vars = make(map[string]string, len(w.Env))
	for _, kv := range w.Env {
		k, v, _ := strings.Cut(kv, "=")
		w.Vars[k] = v
	}
	return w
}

// variable returns the value of a predefined variable, false for other names.
func (w *RunEnv) variable(name, toolName string) (string, bool) {
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
		return plan.Platform(), true
	case "DATE":
		return w.Time.Format(time.DateOnly), true
	case "TIME":
		return w.Time.Format(time.TimeOnly), true
	case "TIMESTAMP":
		return w.Time.Format("2006-01-02T15:04:05Z"), true
	}
	return "", false
}

// Resolve makes a path of a definition absolute: ~ is the home directory, and a relative path starts at base, "" for the
// workspace. All keys that take a path ask here.
func (w *RunEnv) Resolve(base, path string) string {
	path = w.FromHome(path)
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(cmp.Or(base, w.Workspace), path)
}

// FromHome replaces a ~ that stands for the home directory.
func (w *RunEnv) FromHome(path string) string {
	if rest, ok := strings.CutPrefix(path, "~"); ok && (rest == "" || rest[0] == '/') {
		return filepath.Join(w.Home, rest)
	}
	return path
}

// WithScripts returns a RunEnv with a Runtime for scripts: w itself if it has one, else a copy with a Runtime that
// lasts until done is called.
func (w *RunEnv) WithScripts(c jsrun.Config) (scripts *RunEnv, done func()) {
	if w.JavaScript != nil {
		return w, func() {}
	}
	own := *w
	own.JavaScript = jsrun.New(c)
	return &own, func() { own.JavaScript.Close() }
}
