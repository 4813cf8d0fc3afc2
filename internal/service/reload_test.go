package service_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/service"
)

// TestReload checks that a change takes effect at once, and that an invalid definition is
// logged once and leaves the last valid version in use.
func TestReload(t *testing.T) {
	t.Parallel()
	const text = "name: hello\ndescription: x\nbash: echo VERSION\n"
	b := newBench(t, map[string]string{"hello": strings.Replace(text, "VERSION", "one", 1)})
	s := b.serve()
	says := func(tool, want string) {
		t.Helper()
		id := b.start(s, service.Request{Tool: tool, Origin: "api"})
		b.becomes(id, dag.Succeeded)
		past, err := s.Runs.RecordedRun(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.TrimSpace(past.Result().Output); got != want {
			t.Errorf("it says %q, want %q", got, want)
		}
	}
	says("hello", "one")
	b.write("hello", strings.Replace(text, "VERSION", "two", 1))
	says("hello", "two")
	b.write("other", "name: other\nbash: echo other\n")
	says("other", "other")
	for _, broken := range []string{"name: hello\nsteps: 7\n", "{{{", "name: hello\nbash: echo {nothing.output}\nuse-tool: x\n"} {
		b.write("hello", broken)
		b.log.says(t, `continues with its last valid version" tool=hello`)
		says("hello", "two")
	}
	if h := s.Health(); len(h.Broken) != 1 || !strings.Contains(h.Broken[0], "hello.yaml") || h.Tools != 2 || !h.Ready {
		t.Errorf("%+v", h)
	}
	tools := s.Tools.Tools()
	if len(tools) != 2 || tools[0].Broken == "" || tools[1].Broken != "" {
		t.Errorf("%+v", tools)
	}
	b.write("hello", strings.Replace(text, "VERSION", "three", 1))
	says("hello", "three")
	b.log.says(t, `tool is valid again" tool=hello`)
	if n := b.log.count(`tool is valid again`); n != 1 {
		t.Errorf("told %d times\n%s", n, b.log)
	}
}

// TestReloadReplaced checks that a definition is read again which was replaced by one of the same size and the same
// time of modification.
func TestReloadReplaced(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("this system does not report when the metadata of a file changed")
	}
	const text = "name: hello\ndescription: x\nbash: echo %s\n"
	b := newBench(t, map[string]string{"hello": fmt.Sprintf(text, "one")})
	file := filepath.Join(b.dir, ".flowrun", "tools", "hello.yaml")
	old := time.Now().Add(-time.Hour)
	age := func(name string) {
		t.Helper()
		if err := os.Chtimes(name, old, old); err != nil {
			t.Fatal(err)
		}
	}
	age(file)
	time.Sleep(200 * time.Millisecond) // so that the service trusts what it has read
	s := b.serve()
	says := func(want string) {
		t.Helper()
		id := b.start(s, service.Request{Tool: "hello", Origin: "api"})
		b.becomes(id, dag.Succeeded)
		past, err := s.Runs.RecordedRun(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.TrimSpace(past.Result().Output); got != want {
			t.Errorf("it says %q, want %q", got, want)
		}
	}
	says("one")
	b.write("new", fmt.Sprintf(text, "two"))
	replacement := filepath.Join(filepath.Dir(file), "new.yaml")
	age(replacement)
	if err := os.Rename(replacement, file); err != nil {
		t.Fatal(err)
	}
	says("two")
}
