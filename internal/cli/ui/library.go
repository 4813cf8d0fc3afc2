package ui

import (
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/service/config"
	"github.com/flowrun/flowrun/library"
)

// Library returns the library that finds tools. It caches listings of large folders in the state
// directory.
func (env *Env) Library() *library.Library {
	c := library.Config{Trusted: env.trusts, Progress: env.reading()}
	if dir := engine.DefaultStateDir(); dir != "" {
		c.Index = filepath.Join(dir, "index")
	}
	if s := env.limits(); s != nil {
		c.MaxPlanSteps = int(s.Number("limits.max-plan-steps"))
	}
	lib := library.New(c)
	readScripts(env, lib)
	env.addBuiltInAndDiscovered(lib)
	return lib
}

// trusts reports whether the user trusts the project in a folder, permanently or only for this
// command.
func (env *Env) trusts(project string) bool {
	c, err := env.currentSettings()
	return err == nil && c.Trust.Covers(project)
}

// limits returns the settings that affect how definitions are read, or nil if the settings are
// invalid. The command itself reports invalid settings.
func (env *Env) limits() *config.Config {
	env.settings.once.Do(func() {
		if c, err := LoadSettings(false); err == nil {
			env.settings.limits = c
		}
	})
	return env.settings.limits
}

// manyFiles is how many files are worth a change of how the program runs, which stops it four times.
const manyFiles = 32

// reading returns a Config.Progress that shows the progress, and reads many files quickly.
func (env *Env) reading() func(read, total int) {
	show, done := env.Counter("reading file").Show, func() {}
	return func(read, total int) {
		switch {
		case total < manyFiles:
		case read == 0:
			done = readQuickly()
		case read == total:
			done()
		}
		if read > 0 {
			show(read, total)
		}
	}
}

// readQuickly lets the program use all processors, unless GOMAXPROCS is set, and collect garbage
// less often, until the caller has read its files; the heap has only a few megabytes then.
func readQuickly() (done func()) {
	percent, processors := debug.SetGCPercent(400), runtime.GOMAXPROCS(0)
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.SetDefaultGOMAXPROCS()
	}
	return func() {
		runtime.GOMAXPROCS(processors)
		debug.SetGCPercent(percent)
	}
}

// Compile finds and compiles a tool.
func Compile(env *Env, name string) (*engine.Plan, error) {
	p, err := engine.Compile(env.Library(), name)
	return p, MarkMissing(err, name)
}

// Paths returns the paths of a plan's steps, including nested ones. prefix precedes each path.
func Paths(p *engine.Plan, prefix string) []string {
	var list []string
	for _, name := range p.Steps() {
		list = append(list, prefix+name)
		if inner := p.Nested(name); inner != nil {
			list = append(list, Paths(inner, prefix+name+"/")...)
		}
	}
	return list
}

// ToolName returns the name of the tool that an argument means: a name, even of a tool that no
// longer exists, or a file.
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

// ScopeWords returns the values of --scope. Each is also a flag of its own.
func ScopeWords() []string {
	return []string{string(tool.ScopeLocal), string(tool.ScopeUser), string(tool.ScopeGlobal), AnyScope}
}
