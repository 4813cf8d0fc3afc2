// Package valuetest checks that a value reaches a command as it was written, whatever entry point it comes in by.
package valuetest

import (
	"errors"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/gostep"
	"github.com/flowrun/flowrun/internal/lang/value"
	"github.com/flowrun/flowrun/internal/store/sqlite"
	"github.com/flowrun/flowrun/library"
)

func TestMain(m *testing.M) {
	engine.HelperMain()
	os.Exit(m.Run())
}

// bench is a project with tools that take a value.
type bench struct {
	*testing.T
	dir    string
	engine *engine.Engine
	store  history.Store
	lib    *library.Library
	taken  chan any // by the tools take-string and take-number

	plans     map[string]*engine.Plan // by text
	failFirst bool                    // for the tool fail
	web       http.Handler            // these are started when they are needed
	mcp       *client
	db        *database
}

type database struct {
	store  *sqlite.Store
	engine *engine.Engine
}

func newBench(t *testing.T) *bench {
	b := &bench{T: t, dir: t.TempDir(), store: history.NewMemory(), taken: make(chan any, 10), plans: map[string]*engine.Plan{}}
	b.engine = engine.New(engine.Config{Store: b.store, StateDir: filepath.Join(b.dir, "state")})
	if err := os.MkdirAll(filepath.Join(b.dir, ".flowrun", "tools"), 0o755); err != nil {
		t.Fatal(err)
	}
	b.lib = b.library()
	for _, typ := range []string{"string", "number"} {
		b.file(".flowrun/tools/pass-"+typ+".yaml", "name: pass-"+typ+"\ndescription: d\nparameters: {V: {type: "+typ+", allow-dash: true}}\n"+
			"steps: [{name: s, use-tool: take-"+typ+", with: {V: '{V}'}}]\n")
	}
	b.file("cached.yaml", "name: cached\ndescription: d\nparameters: {V: {allow-dash: true}}\nbash: printf %s {V}\ncache: {}\n")
	return b
}

// database is a history on disk.
func (b *bench) database() *database {
	if b.db == nil {
		store, err := sqlite.Open(b.Context(), filepath.Join(b.dir, "database"))
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { store.Close() })
		b.db = &database{store, engine.New(engine.Config{Store: store, StateDir: filepath.Join(b.dir, "database")})}
	}
	return b.db
}

// library returns a new Library with the Go tools.
func (b *bench) library() *library.Library {
	lib := library.New(library.Config{WorkingDirectory: b.dir, Home: b.dir, Getenv: func(string) string { return "" }})
	for _, g := range slices.Concat(b.goTools("string"), b.goTools("number"), []gostep.GoTool{b.failTool()}) {
		if err := lib.Add(g.Definition()); err != nil {
			b.Fatal(err)
		}
	}
	return lib
}

// file writes a file of the project and returns its path.
func (b *bench) file(name, text string) string {
	path := filepath.Join(b.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
	return path
}

// cell is one value at one entry point.
type cell struct {
	*bench
	kind
	plain bool
	typ   string // of the parameter
}

func (c cell) asYAML() string { return c.kind.yaml(c.plain) }
func (c cell) asJSON() string { return c.kind.json(c.plain) }

const head = "name: t\ndescription: d\n"

// parameter is the beginning of a definition with a parameter V.
func (c cell) parameter() string {
	return head + "parameters: {V: {type: " + c.typ + ", allow-dash: true}}\n"
}

// pass are the steps of a tool that passes an expression on to the tool that takes it; next is such a step after others.
func (c cell) pass(v string) string { return "steps:\n" + c.next(v) }
func (c cell) next(v string) string {
	return "  - {name: s, use-tool: take-" + c.typ + ", with: {V: '" + v + "'}}\n"
}

// step is pass for a step with other keys, and for any with.
func (c cell) step(keys, with string) string {
	return "steps:\n  - name: s\n" + keys + "    use-tool: take-" + c.typ + "\n    with: " + with + "\n"
}

// run runs a definition and returns what was taken.
func (c cell) run(text string) (any, error) {
	return c.runFile("t.yaml", text)
}

func (c cell) runFile(name, text string) (any, error) {
	p, err := engine.Compile(c.lib, c.file(name, text))
	if err != nil {
		return nil, err
	}
	return c.runPlan(p, nil)
}

func (c cell) runPlan(p *engine.Plan, params map[string]any, options ...engine.RunOption) (any, error) {
	return c.took(c.engine.Run(c.Context(), p, params, options...))
}

// compile returns the plan of a definition that has no value in it.
func (c cell) compile(text string) *engine.Plan {
	if c.plans[text] == nil {
		p, err := engine.Compile(c.lib, c.file("t.yaml", text))
		if err != nil {
			c.Fatal(err)
		}
		c.plans[text] = p
	}
	return c.plans[text]
}

// failure is a run that began and failed.
type failure struct{ message string }

func (f *failure) Error() string { return f.message }

// text is the value as a command gets it.
func text(v any) string {
	if v == nil {
		return "(nothing)"
	}
	return value.Plain(v)
}

// TestValues passes every kind of value in by every entry point.
func TestValues(t *testing.T) {
	all := maps.Clone(entryPoints)
	maps.Copy(all, kept)
	for name, pass := range all {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			for which, k := range kinds {
				for _, typ := range k.types(name) {
					for _, plain := range []bool{false, true} {
						if plain && (!k.plain || kept[name] != nil || slices.Contains(asTheyAre, name)) {
							continue
						}
						c := cell{b, k, plain, typ}
						c.check(name, which, pass)
					}
				}
			}
		})
	}
}

// asTheyAre are entry points for which a value has no quotes.
var asTheyAre = []string{"K=V", "K=@FILE", "env", "webhook body", "for-each of a parameter", "run --detach", "schedule add"}

// duringRun are entry points whose values are known, or have a type, only during the run.
var duringRun = []string{"for-each", "for-each of a parameter", "list as text", "matrix", "env", "env-files", "state"}

// check passes one value, and compares what the tool got with what was written.
func (c cell) check(entry, which string, pass func(cell) (any, error)) {
	want, why := c.want(entry, which)
	switch got, err := pass(c); {
	case err == nil && why == "" && text(got) == want:
	case err == nil && why == "":
		c.Errorf("%s for %s, plain %v: %q, want %q", which, c.typ, c.plain, short(text(got)), short(want))
	case err == nil:
		c.Errorf("%s for %s, plain %v: %q, and it is not refused", which, c.typ, c.plain, short(text(got)))
	case errors.As(err, new(*failure)) && !slices.Contains(duringRun, entry):
		c.Errorf("%s for %s, plain %v: it is not refused before the run: %v", which, c.typ, c.plain, err)
	case why == "" || !strings.Contains(err.Error(), why):
		c.Errorf("%s for %s, plain %v: refused, want %q: %v", which, c.typ, c.plain, short(want)+why, err)
	}
}

// want returns what the tool gets, or what the message says with which the value is refused.
func (c cell) want(entry, which string) (want, why string) {
	in := func(list string) bool { return slices.Contains(strings.Split(list, ", "), entry) }
	definition := in("default, with, alias, Markdown, test, schedule, backfill, on, for-each, matrix, state")
	switch {
	case which == "NUL" && in("default, state") && c.typ == "number":
		return "", "error[type-mismatch]"
	case which == "NUL" && in("env-files"):
		return "", "NUL"
	case which == "NUL" && definition && !in("test, schedule, backfill, on, state"):
		return "", "error[control-character]"
	case which == "NUL":
		return "", "V"
	case which == "not UTF-8" && (definition ||
		in("--params YAML, --params JSON, HTTP API, webhook field, webhook body, K:=JSON, list as text")):
		return "", "not UTF-8"
	case which == "not UTF-8" && in("MCP"):
		return "", "not valid UTF-8"
	case which == "not UTF-8" && c.typ == "string" && in("run -o json, declared output"): // JSON has no such text
		return "caf\ufffd", ""
	case which == "byte order mark" && in("--params JSON"): // as in YAML
		return "", "p.json:1:8: control character U+FEFF"
	case which == "200 KB" && in("env-files"): // a limit of Linux
		return "", "failed"
	case which == "True" && c.plain && c.typ == "string" && in("for-each, matrix"): // the items have no type
		return "true", ""
	case c.typ == "string" && in("cache, step output"): // without the last line end
		return value.WithoutLineEnd(c.written), ""
	case c.typ == "number" && in("default, state") && !c.plain:
		return "", "error[" // a definition has the type itself
	case c.typ == "string":
		return c.written, ""
	case c.number == "" && in("state"):
		return "", "error["
	case c.number == "":
		return "", "number"
	case in("MCP") && regexp.MustCompile(`^0\d|x`).MatchString(c.written): // a model is asked to write it plainly
		return "", "V: " + c.written
	}
	return c.number, ""
}

func short(s string) string { return s[:min(len(s), 300)] }
