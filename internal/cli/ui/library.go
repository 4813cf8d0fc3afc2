package ui

import (
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/internal/config"
	"github.com/flowrun/flowrun/tool"
)

// Library is where tools are found. Listings of large folders are remembered beside the
// history.
func (env *Env) Library() *tool.Library {
	c := tool.Config{Trusted: env.trusts}
	if dir := flowrun.DefaultStateDir(); dir != "" {
		c.Index = filepath.Join(dir, "index")
	}
	if s := env.limits(); s != nil {
		c.MaxPlanSteps = int(s.Number("limits.max-plan-steps"))
	}
	lib := tool.NewLibrary(c)
	env.readScripts(lib)
	env.provide(lib)
	return lib
}

// trusts says whether the user trusts the project in a folder, in this command or for good.
func (env *Env) trusts(project string) bool {
	c, err := env.currentSettings()
	return err == nil && c.Trust.Covers(project)
}

// limits are the settings as far as definitions are read by them, nil where they are
// invalid, which the command itself reports.
func (env *Env) limits() *config.Config {
	env.settings.once.Do(func() {
		if c, err := LoadSettings(false); err == nil {
			env.settings.limits = c
		}
	})
	return env.settings.limits
}

// Tools lists what a library holds. Many files are read on all processors, where the user
// did not say how many, and with less collecting of garbage: the heap is a few megabytes.
func (env *Env) Tools(lib *tool.Library) []tool.Listed {
	if os.Getenv("GOMAXPROCS") == "" {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
		runtime.SetDefaultGOMAXPROCS()
	}
	defer debug.SetGCPercent(debug.SetGCPercent(400))
	return lib.List()
}

// Compile finds and compiles a tool.
func Compile(env *Env, name string) (*flowrun.Plan, error) {
	p, err := flowrun.Compile(env.Library(), name)
	return p, MarkMissing(err)
}

// Paths are those of a plan's steps, the ones inside others included.
func Paths(p *flowrun.Plan, prefix string) []string {
	var list []string
	for _, name := range p.Steps() {
		list = append(list, prefix+name)
		if inner := p.Nested(name); inner != nil {
			list = append(list, Paths(inner, prefix+name+"/")...)
		}
	}
	return list
}

// ToolName is the name of the tool that a word of the command line means: a name,
// also of a tool that is gone, or a file.
func ToolName(env *Env, word string) (string, error) {
	if !strings.ContainsRune(word, os.PathSeparator) && tool.Extension(word) == "" {
		return word, nil
	}
	p, err := Compile(env, word)
	if err != nil {
		return "", err
	}
	return p.Name(), nil
}

// AnyScope stands for all scopes together.
const AnyScope = "any"

// ScopeWords are what --scope takes, each also a flag of its own.
var ScopeWords = []string{string(tool.ScopeLocal), string(tool.ScopeUser), string(tool.ScopeGlobal), AnyScope}
