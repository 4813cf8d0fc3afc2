package registry_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/library"
	"github.com/flowrun/flowrun/registry"
)

// keptTools is a registry whose tools are in the folders of a project and of a user.
type keptTools struct {
	*registry.Registry
	t             testing.TB
	project, user string
}

func newKeptTools(t testing.TB) *keptTools {
	project, home := t.TempDir(), t.TempDir()
	k := &keptTools{t: t, project: filepath.Join(project, ".flowrun", "tools"), user: filepath.Join(home, ".config", "flowrun", "tools")}
	for _, dir := range []string{k.project, k.user} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	k.Registry = registry.New(library.New(library.Config{WorkingDirectory: project, Home: home, Getenv: func(string) string { return "" }}), registry.Options{})
	return k
}

func (k *keptTools) write(dir, name, text string) {
	k.t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name+".yaml"), []byte(text), 0o600); err != nil {
		k.t.Fatal(err)
	}
}

func (k *keptTools) get(name string) *registry.Tool {
	k.t.Helper()
	t, err := k.Get(name)
	if err != nil {
		k.t.Fatal(err)
	}
	return t
}

// A tool is compiled again only when one of the definitions that it was made of is another one.
func TestKeptTool(t *testing.T) {
	k := newKeptTools(t)
	k.write(k.user, "inner", "description: the first\nbash: echo inner\n")
	k.write(k.user, "outer", "steps: [{name: a, use-tool: inner}]\n")
	first := k.get("outer")
	if k.get("outer") != first {
		t.Error("an unchanged tool is another one")
	}
	for _, c := range []struct{ what, dir, name, text string }{
		{"its own file", k.user, "outer", "steps: [{name: b, use-tool: inner}]\n"},
		{"its own file, with the same size", k.user, "outer", "steps: [{name: c, use-tool: inner}]\n"},
		{"the file of the tool that it uses", k.user, "inner", "description: the second\nbash: echo inner\n"},
		{"a file with its name in a folder that is searched first", k.project, "outer", "bash: echo outer\n"},
	} {
		before := k.get("outer")
		k.write(c.dir, c.name, c.text)
		if after := k.get("outer"); after == before {
			t.Errorf("%s: the tool is the same", c.what)
		}
	}
	if err := os.Remove(filepath.Join(k.project, "outer.yaml")); err != nil {
		t.Fatal(err)
	}
	if k.get("outer").Plan().Definition.Scope != tool.ScopeUser {
		t.Error("the removed file is used")
	}
	if err := os.Remove(filepath.Join(k.user, "inner.yaml")); err != nil {
		t.Fatal(err)
	}
	if _, err := k.Get("outer"); err == nil {
		t.Error("the removed tool is used")
	}
}

// The memory of kept tools is bounded; the ones that were used last stay.
func TestKeptToolsAreBounded(t *testing.T) {
	k := newKeptTools(t)
	names := make([]string, 30)
	for i := range names {
		names[i] = fmt.Sprintf("tool%d", i)
		k.write(k.user, names[i], "bash: echo\n#"+strings.Repeat("x", 50<<10))
	}
	first := k.get(names[0])
	var last *registry.Tool
	for _, name := range names {
		last = k.get(name)
		if k.get(names[0]) != first {
			t.Fatal("a tool in use was dropped")
		}
	}
	if k.get(names[29]) != last {
		t.Error("the last tool was dropped")
	}
	collected := make(chan bool, 1)
	runtime.AddCleanup(k.get(names[1]), func(c chan bool) { c <- true }, collected)
	for _, name := range names {
		k.get(name)
	}
	for range 100 {
		runtime.GC()
		select {
		case <-collected:
			return
		case <-time.After(10 * time.Millisecond):
		}
	}
	t.Error("a tool that was used long ago is still in memory")
}

// BenchmarkGet is the part of a call that finds the tool.
func BenchmarkGet(b *testing.B) {
	for _, steps := range []int{1, 20, 200} {
		b.Run(fmt.Sprint(steps), func(b *testing.B) {
			k := newKeptTools(b)
			var text strings.Builder
			text.WriteString("parameters: {NAME: {type: string, description: d}}\nsteps:\n")
			for i := range steps {
				fmt.Fprintf(&text, "  - name: step%d\n    bash: |\n      echo \"{NAME} %d\" | tr a-z A-Z\n", i, i)
			}
			k.write(k.user, "many", text.String())
			time.Sleep(150 * time.Millisecond) // until the stamp of the file is reliable
			k.get("many")
			b.ReportAllocs()
			for b.Loop() {
				k.get("many")
			}
		})
	}
}
