package resultcache_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/cache"
	"github.com/flowrun/flowrun/internal/engine/call"
	"github.com/flowrun/flowrun/internal/engine/compile"
	"github.com/flowrun/flowrun/internal/engine/resultcache"
	"github.com/flowrun/flowrun/internal/lang/decode"
	"github.com/flowrun/flowrun/library"
)

const cachedTool = `
parameters: {P: {description: d, default: value}}
environment: {E: of the tool}
steps:
  - name: first
    bash: echo first
  - name: it
    bash: cat in.txt; echo {P} "$E" "$OWN" "${NAMED-}" > out.txt
    input: some text
    environment: {OWN: of the step}
    cache: {inputs: ["in*.txt"], outputs: [out.txt], env: [NAMED], key: one}
`

// cachedCall is a call of cachedTool, and what is around it.
type cachedCall struct {
	*testing.T
	dir, text string
	env       []string
	params    map[string]any
}

func (c *cachedCall) file(name, text string) {
	c.Helper()
	if err := os.WriteFile(filepath.Join(c.dir, name), []byte(text), 0o600); err != nil {
		c.Fatal(err)
	}
}

// key returns the key under which the result of the step is stored, and what it depends on.
func (c *cachedCall) key(store *cache.Store) (string, []cache.Component) {
	c.Helper()
	def, found := decode.File("t.yaml", []byte("name: t\ndescription: d\n"+c.text))
	if err := found.Err(); err != nil {
		c.Fatal(err)
	}
	p, err := compile.Definition(library.New(library.Config{WorkingDirectory: c.dir}), "", def)
	if err != nil {
		c.Fatal(err)
	}
	w := &call.RunEnv{Workspace: c.dir, Home: c.dir, Temp: c.dir, Env: append([]string{"PATH=" + os.Getenv("PATH")}, c.env...)}
	params, err := call.Bind(c.Context(), p, w.Filled(), c.params)
	if err != nil {
		c.Fatal(err)
	}
	a := params.Preview()
	if err := a.OpenEnvironment(c.Context()); err != nil {
		c.Fatal(err)
	}
	if err := a.FindDir(); err != nil {
		c.Fatal(err)
	}
	on, err := resultcache.Depends(c.Context(), p.ByName["it"], store, a, dag.View{})
	if err != nil {
		c.Fatal(err)
	}
	return store.Key(on.Components), on.Components
}

// TestKey checks what makes a step run again, and what does not.
func TestKey(t *testing.T) {
	replace := func(old, new string) func(*cachedCall) {
		return func(c *cachedCall) {
			if !strings.Contains(c.text, old) {
				c.Fatalf("no %q", old)
			}
			c.text = strings.Replace(c.text, old, new, 1)
		}
	}
	nothing := func(*cachedCall) {}
	store, err := cache.Open(filepath.Join(t.TempDir(), "cache"))
	if err != nil {
		t.Fatal(err)
	}
	for what, c := range map[string]struct {
		change func(*cachedCall)
		runs   bool
	}{
		"nothing":         {nothing, false},
		"a retry":         {replace("    input:", "    error-handling: {retry: {attempts: 2, delay: 1}, fallback: exit 7}\n    input:"), false},
		"parallel":        {replace("    input:", "    parallel: true\n    input:"), false},
		"order":           {replace("  - name: first\n    bash: echo first\n", ""), false},
		"another step":    {replace("echo first", "echo something else"), false},
		"a step behind":   {replace("    input:", "    wait-for: []\n    input:"), false},
		"timeout":         {replace("    input:", "    timeout: 30s\n    input:"), false},
		"tolerance":       {replace("    input:", "    continue-on-error: true\n    input:"), false},
		"a condition":     {replace("    input:", "    run-condition: always()\n    input:"), false},
		"buffer-limit":    {replace("    input:", "    output: {buffer-limit: 1MB}\n    input:"), false},
		"ttl":             {replace("key: one", "key: one, ttl: 1h"), false},
		"a comment":       {replace("    input:", "    # a comment\n    input:"), false},
		"a parameter":     {replace("{P: {", "{Q: {description: d, default: 1}, P: {"), false},
		"an unnamed env":  {func(c *cachedCall) { c.env = append(c.env, "OTHER=1") }, false},
		"the same value":  {func(c *cachedCall) { c.params["P"] = "value" }, false},
		"a file beside":   {func(c *cachedCall) { c.file("beside.txt", "x") }, false},
		"the command":     {replace("cat in.txt;", "cat  in.txt;"), true},
		"a value":         {func(c *cachedCall) { c.params["P"] = "another" }, true},
		"the kind":        {replace("bash: cat", "sh: cat"), true},
		"strict":          {replace("    input:", "    strict: true\n    input:"), true},
		"strict tool":     {replace("environment: {E", "strict: true\nenvironment: {E"), true},
		"directory":       {replace("    input:", "    working-directory: ./.\n    input:"), false},
		"inherit":         {replace("environment: {OWN: of the step}", "environment: {inherit: false, variables: {OWN: of the step}}"), true},
		"stdin":           {replace("some text", "some other text"), true},
		"no stdin":        {replace("    input: some text\n", ""), true},
		"own variable":    {replace("of the step", "of that step"), true},
		"tool's variable": {replace("of the tool", "of that tool"), true},
		"a named env":     {func(c *cachedCall) { c.env = append(c.env, "NAMED=1") }, true},
		"an empty named":  {func(c *cachedCall) { c.env = append(c.env, "NAMED=") }, true},
		"the key":         {replace("key: one", "key: two"), true},
		"outputs":         {replace("[out.txt]", "[out.txt, in.txt]"), true},
		"an input":        {func(c *cachedCall) { c.file("in.txt", "changed") }, true},
		"one more input":  {func(c *cachedCall) { c.file("in2.txt", "") }, true},
		"an input less":   {func(c *cachedCall) { os.Remove(filepath.Join(c.dir, "in3.txt")) }, true},
	} {
		t.Run(what, func(t *testing.T) {
			at := &cachedCall{T: t, dir: t.TempDir(), text: cachedTool, params: map[string]any{}}
			at.file("in.txt", "input")
			at.file("in3.txt", "input")
			key, before := at.key(store)
			c.change(at)
			if again, after := at.key(store); (again != key) != c.runs {
				t.Errorf("runs again: %t; what differs: %v", again != key, cache.Diff(before, after))
			}
		})
	}
}
