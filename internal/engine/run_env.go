package engine

import (
	"context"
	"os"
	"time"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/hooks"
	"github.com/flowrun/flowrun/internal/engine/call"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/os/home"
)

// RunEnv is what a run may know of its surroundings. The zero value is that of the process, at the current time.
type RunEnv struct {
	Workspace string   // {WORKSPACE}, the directory steps start in; "" = the working directory
	Home      string   // {HOME}
	Temp      string   // {TEMP}, the system's temporary directory
	Env       []string // K=V, the process environment of steps; nil = os.Environ()
	// Time is when the run starts. {DATE}, {TIME} and {TIMESTAMP} are derived from it, in UTC, for the whole run.
	Time time.Time
	// TrustedProject is the folder of the project that the user trusts, "" for none. With EnforceModels, the steps of tools
	// that do not set security.enforce can read it, whatever their permissions list.
	TrustedProject string
	// AllowDash lets all values of callers begin with a dash (run --allow-dash).
	AllowDash bool
	// JavaScript runs the scripts of definitions. The caller closes it. If it is nil, an Engine uses its own, and
	// Plan.Bind and Plan.Preview create one for the duration of the call.
	JavaScript *hooks.Runtime
	// State reads the state of tools for previews, such as Store.State. If it is nil, {state.NAME} is shown as it is
	// written. A run reads the state from the Store of the Engine.
	State func(context.Context, history.StateID) ([]history.StateValue, error)

	ctx context.Context // see Until; nil: context.Background()
}

// Until returns a RunEnv for work that ends when ctx does: Plan.Bind, Args.Preview and the like then return its
// cause. Engine.Run uses its own context.
func (w RunEnv) Until(ctx context.Context) RunEnv {
	w.ctx = ctx
	return w
}

func (w *RunEnv) context() context.Context {
	if w.ctx == nil {
		return context.Background()
	}
	return w.ctx
}

// bind binds a caller's parameters.
func (w *RunEnv) bind(p *plan.Plan, params map[string]any) (*call.Params, error) {
	return call.Bind(w.context(), p, w.filled(), params)
}

// filled returns the environment of a call, with every gap filled from the process.
func (w *RunEnv) filled() *call.RunEnv {
	return (&call.RunEnv{Workspace: w.Workspace, Home: w.Home, Temp: w.Temp, Env: w.Env, Time: w.Time, Project: w.TrustedProject, Own: []string{DefaultStateDir(), ownSettings(), "/etc/flowrun"}, AllowDash: w.AllowDash, JavaScript: w.JavaScript, State: w.State}).Filled()
}

// ownSettings returns the folder of the settings of this user.
func ownSettings() string {
	dir, _ := home.Dir() // without one there are no settings
	return home.Settings(os.Getenv, dir)
}
