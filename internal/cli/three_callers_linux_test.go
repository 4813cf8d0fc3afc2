package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/lang/value"
	"github.com/flowrun/flowrun/internal/os/confine"
	"github.com/flowrun/flowrun/internal/test/sizetest"
	"github.com/flowrun/flowrun/library"
)

// TestThreeCallers runs the examples, the complete tools of the specification and the examples of the page about MCP in
// a trusted project: for a person, for a model that calls flowrun, and for one that uses MCP. A model's call gives the
// same result, or says which line allows what it lacked.
func TestThreeCallers(t *testing.T) {
	if err := confine.CheckSandbox(); err != nil {
		t.Skip(err)
	}
	var same, told atomic.Int32
	all := callables(t)
	few := []string{"page", "review", "search-code", "find-files", "nightly", "hello"}
	t.Run("tools", func(t *testing.T) {
		for name, params := range all {
			if sizetest.Chosen() == sizetest.Small && !slices.Contains(few, name) {
				continue
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				person := newCaller(t).run(name, params)
				for _, c := range []struct {
					who  string
					call func(*caller, string, map[string]any) called
				}{{"call", (*caller).call}, {"MCP", (*caller).mcp}} {
					model := c.call(newCaller(t), name, params)
					switch {
					case model.ok == person.ok && (!person.ok || model.text == person.text):
						same.Add(1)
					case namesPermission().MatchString(model.text):
						told.Add(1)
					default:
						t.Errorf("a person gets %v %q\n%s: %v %q", person.ok, person.text, c.who, model.ok, model.text)
					}
				}
			})
		}
	})
	if a, b := same.Load(), told.Load(); a < 3*b {
		t.Errorf("%d calls gave the result of a person's run, %d said what they lacked", a, b)
	}
}

// namesPermission matches an answer that names a permission, or a decision that only a person can make.
var namesPermission = func() *regexp.Regexp {
	return regexp.MustCompile(`(filesystem|network|environment|tool):[A-Za-z{.~/*]|waiting for a person|security.required-permissions`)
}

// callables returns the tools with the parameters of their first test, or with a text for each that is required.
func callables(t *testing.T) map[string]map[string]any {
	c := newCaller(t)
	lib := library.New(library.Config{WorkingDirectory: c.dir, Home: c.dir})
	found := map[string]map[string]any{}
	files, err := filepath.Glob(filepath.Join(c.dir, ".flowrun", "tools", "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		p, err := engine.Compile(lib, file)
		if err != nil {
			continue // it needs something that this copy does not have
		}
		def, params := p.Definition, map[string]any{}
		for _, prm := range def.Parameters {
			if prm.Required {
				params[prm.Name] = "x"
			}
		}
		if len(def.Tests) > 0 {
			for name, v := range p.Given(def.Tests[0].Parameters) {
				params[name] = v
			}
		}
		if !interactive(def) {
			found[def.Name] = params
		}
	}
	if len(found) < 25 {
		t.Fatalf("found %d tools", len(found))
	}
	return found
}

func interactive(d *tool.Definition) bool {
	for _, s := range d.Steps {
		if _, asks := s.Body.(*tool.Approve); asks {
			return true
		}
	}
	return false
}

// caller has a trusted project of its own with all tools.
type caller struct {
	*testing.T
	dir string
}

func newCaller(t *testing.T) *caller {
	c := &caller{t, t.TempDir()}
	tools := filepath.Join(c.dir, ".flowrun", "tools")
	for _, err := range []error{
		os.CopyFS(filepath.Join(c.dir, "data"), os.DirFS("../../examples/data")), os.MkdirAll(tools, 0o755), os.MkdirAll(filepath.Join(c.dir, "handbook"), 0o755),
		os.MkdirAll(filepath.Join(c.dir, "src"), 0o755), os.WriteFile(filepath.Join(c.dir, "handbook", "x.md"), []byte("# Intro\n"), 0o644),
		os.WriteFile(filepath.Join(c.dir, "src", "a.txt"), []byte("x marks\n"), 0o644),
		os.WriteFile(filepath.Join(tools, "page.yaml"), []byte("name: page\ndescription: A page of the handbook\nparameters: {NAME: {type: string, description: n, required: true}}\nbash: cat handbook/{NAME}.md\n"), 0o644),
		os.WriteFile(filepath.Join(tools, "review.yaml"), []byte("name: review\ndescription: Reviews\nbash: git diff --stat HEAD... && echo reviewed\n"), 0o644),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, pattern := range []string{"../../examples/*.yaml", "../lang/tool/testdata/spec001/*.yaml"} {
		files, _ := filepath.Glob(pattern)
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if name := regexp.MustCompile(`(?m)^name: ([\w-]+)$`).FindSubmatch(text); name != nil && bytes.Contains(text, []byte("\ndescription: ")) {
				if err := os.WriteFile(filepath.Join(tools, string(name[1])+".yaml"), text, 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	c.start("git", "init", "-q", "-b", "main", ".")
	c.start("git", "add", "src")
	c.start("git", "-c", "user.name=x", "-c", "user.email=x@example.com", "commit", "-qm", "first")
	c.start("flowrun", "trust")
	return c
}

// called is what a caller gets.
type called struct {
	ok   bool
	text string // the output, or the error
}

func (c *caller) start(words ...string) (stdout, stderr string, ok bool) {
	c.Helper()
	return c.startWith("", words...)
}

func (c *caller) startWith(input string, words ...string) (stdout, stderr string, ok bool) {
	c.Helper()
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Dir = c.dir
	cmd.Env = append(os.Environ(), "HOME="+c.dir, "XDG_CONFIG_HOME="+c.dir+"/cfg", "FLOWRUN_STATE_DIR="+c.dir+"/state", "FLOWRUN_GLOBAL_CONFIG="+c.dir+"/none", "GIT_CONFIG_NOSYSTEM=1")
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(input), &out, &errs
	err := cmd.Run()
	return out.String(), errs.String(), err == nil
}

// plain removes what differs between two projects and two runs.
func (c *caller) plain(text string) string {
	text = strings.ReplaceAll(strings.TrimSpace(text), c.dir, "DIR")
	return regexp.MustCompile(`\d{4}-\d{2}-\d{2}[T ]?[\d:.Z]*|flowrun-\w+`).ReplaceAllString(text, "NOW")
}

func (c *caller) run(name string, params map[string]any) called {
	words := []string{"flowrun", "run", name, "--no-input", "-o", "json"}
	for k, v := range params {
		words = append(words, k+"="+value.Plain(v))
	}
	out, errs, ok := c.start(words...)
	var doc struct{ Output string }
	if ok && json.Unmarshal([]byte(out), &doc) != nil {
		c.Errorf("%s is not a document: %s", out, errs)
	}
	return called{ok, c.plain(doc.Output)}
}

func (c *caller) call(name string, params map[string]any) called {
	args, _ := json.Marshal(params)
	out, errs, ok := c.start("flowrun", "call", name, string(args), "--auto-approve", "*")
	var doc struct {
		LLM string `json:"llmContent"`
	}
	if json.Unmarshal([]byte(out), &doc) != nil {
		c.Errorf("%s is not a document: %s", out, errs)
	}
	return called{ok, c.plain(doc.LLM)}
}

func (c *caller) mcp(name string, params map[string]any) called {
	var input strings.Builder
	for _, m := range []string{`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`} {
		input.WriteString(m + "\n")
	}
	args, _ := json.Marshal(params)
	fmt.Fprintf(&input, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":%q,"arguments":%s}}`+"\n", name, args)
	out, errs, _ := c.startWith(input.String(), "flowrun", "mcp", "--auto-approve", "*")
	for line := range strings.Lines(out) {
		var m struct {
			ID     int
			Error  any
			Result struct {
				IsError bool
				Content []struct{ Text string }
			}
		}
		if json.Unmarshal([]byte(line), &m) == nil && m.ID == 2 {
			text := ""
			for _, part := range m.Result.Content {
				text += part.Text
			}
			if m.Error != nil {
				return called{false, fmt.Sprint(m.Error)}
			}
			return called{!m.Result.IsError, c.plain(text)}
		}
	}
	c.Errorf("there is no answer in %q: %s", out, errs)
	return called{}
}
