package enginetest

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/limitednet"
	"github.com/flowrun/flowrun/internal/engine/outcome"
	"github.com/flowrun/flowrun/internal/engine/runresult"
)

// tracedRun runs a definition and returns its result, with the permissions that it needs.
func tracedRun(t *testing.T, dir, definition string, params map[string]any) *runresult.Result {
	t.Helper()
	res, err := engine.New(engine.Config{StateDir: t.TempDir()}).Run(context.Background(), compile(t, dir, definition), params,
		engine.WithRunEnv(world(dir)), engine.WithPermissionTrace())
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func TestPermissionTrace(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	_, port, _ := net.SplitHostPort(l.Addr().String())
	for _, c := range []struct {
		name, definition string
		needed, unused   []string
	}{
		{"nothing", "bash: echo {A}; true | cat\n", nil, nil},
		{"files", "steps:\n  - {name: a, bash: cat data/one >result/new}\n  - {name: b, bash: sort data/two >/dev/null, parallel: true}\n  - {name: c, run: ./script}\n", []string{
			"filesystem:execute:{WORKSPACE}/script", "filesystem:read:{A}", "filesystem:read:{WORKSPACE}/data/two", "filesystem:write:{WORKSPACE}/result"}, nil},
		{"a parameter", "bash: cat {A} $(dirname {A})/two\n", []string{"filesystem:read:{A}", "filesystem:read:{WORKSPACE}/data/two"}, nil},
		{"a link", "bash: cat link/one\n", []string{"filesystem:read:{A}"}, nil},
		{"a variable", "bash: echo $FROM_CALLER $FROM_TOOL $NOT_SET\nenvironment: {variables: {FROM_TOOL: x}}\n", []string{"environment:FROM_CALLER"}, nil},
		{"a connection", "bash: exec 3<>/dev/tcp/127.0.0.1/" + port + "\n", []string{"network:local:127.0.0.1:" + port}, nil},
		{"its own temporary folder", "bash: f=$(mktemp); echo x >$f; cat $f; rm $f\nresources: {cleanup: [delete-temp-files: true]}\n", nil, nil},
		{"reduced", "bash: cat data/one\nsecurity: {execution-privilege: reduced}\n", []string{"filesystem:read:{A}"}, nil},
		{"limited memory", "bash: cat data/one\nresources: {max-memory: 500MB}\n", []string{"filesystem:read:{A}"}, nil},
		{"a group and a loop", "steps:\n  - name: g\n    steps:\n      - {name: l, for-each: {items: [one, two]}, run: 'cat data/{item}'}\n", []string{
			"filesystem:read:{A}", "filesystem:read:{WORKSPACE}/data/two"}, nil},
		{"a wait", "steps:\n  - {name: w, wait: {port: '127.0.0.1:" + port + "'}}\n", []string{"network:local:127.0.0.1:" + port}, nil},
		{"JavaScript", "js: |\n  return require('fs').readFileSync('data/one', 'utf8')\nsecurity: {required-permissions: ['filesystem:read:data']}\n", []string{"filesystem:read:{A}"}, nil},
		{"unused", "bash: cat data/one\nsecurity: {required-permissions: ['filesystem:read:data', 'filesystem:write:result', 'network:external:example.com']}\n",
			[]string{"filesystem:read:{A}"}, []string{"filesystem:write:result", "network:external:example.com"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := openFolder(t)
			for name, text := range map[string]string{"data/one": "1\n", "data/two": "2\n", "result/old": "", "script": "#!/bin/sh\necho x\n"} {
				path := filepath.Join(dir, name)
				if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o755)); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Symlink("data", filepath.Join(dir, "link")); err != nil {
				t.Fatal(err)
			}
			definition := "description: x\nparameters: {A: {type: string, description: a file, default: data/one}}\n" + c.definition
			p := compile(t, dir, definition)
			w := world(dir)
			w.Env = append(os.Environ(), "FROM_CALLER=x")
			res, err := engine.New(engine.Config{StateDir: t.TempDir()}).Run(context.Background(), p, nil, engine.WithRunEnv(w), engine.WithPermissionTrace())
			if err != nil {
				t.Fatal(err)
			}
			if res.Status != dag.Succeeded || !slices.Equal(res.Permissions.Needed, c.needed) || !slices.Equal(res.Permissions.Unused, c.unused) {
				t.Errorf("%s %s: needed %q, want %q; unused %q\n%+v", res.Status, res.Message, res.Permissions.Needed, c.needed, res.Permissions.Unused, res.Steps)
			}
		})
	}
}

// Hosts are listed by the names that programs ask the proxy for.
func TestPermissionTraceNames(t *testing.T) {
	t.Parallel()
	dir := openFolder(t)
	ask := func(e limitednet.Egress) (stop func()) {
		return func() {
			for host, to := range map[string]string{"api.example.com": "192.0.2.1", "db.example.com": "10.0.0.1"} {
				if err := errors.Join(e.Host(host, "443"), e.Address(host, "443", netip.MustParseAddr(to))); err != nil {
					t.Error(err)
				}
			}
			e.Proxy.Close()
		}
	}
	p := compile(t, dir, "description: x\nbash: echo $HTTPS_PROXY\n")
	res, err := engine.New(engine.Config{Egress: ask}).Run(context.Background(), p, nil, engine.WithRunEnv(world(dir)), engine.WithPermissionTrace())
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"network:external:api.example.com:443", "network:external:db.example.com:443", "network:local:db.example.com:443"}
	if !slices.Equal(res.Permissions.Needed, want) || !strings.HasPrefix(res.Output, "http://flowrun:") || !strings.Contains(res.Output, "@127.0.0.1:") {
		t.Errorf("%q %q", res.Permissions.Needed, res.Output)
	}
}

// A traced step ends as it would otherwise: with its exit code, by a signal, by its time limit, and with everything that it
// has started.
func TestTracedStepEnds(t *testing.T) {
	t.Parallel()
	dir := openFolder(t)
	res := tracedRun(t, dir, `
description: x
ignore-errors: true
steps:
  - {name: code, bash: exit 7}
  - {name: signal, bash: kill -TERM $$}
  - {name: slow, bash: 'sleep 60 & while :; do : </etc/passwd; done', timeout: 500ms}
  - {name: lost, run: ./not-there}
  - {name: asks, bash: 'read -r x; echo "$x"', interactive: true, interactive-options: {default-response: "yes"}}
`, nil)
	for step, want := range map[string]string{"code": "failed 7", "signal": "failed 143", "slow": "timed-out 124", "lost": "failed 127", "asks": "succeeded 0"} {
		s := res.Step(step)
		if got := strings.TrimSpace(s.Status.String() + " " + strconv.Itoa(s.ExitCode)); got != want {
			t.Errorf("%s: %s, want %s: %s", step, got, want, s.Message)
		}
	}
}

func TestTraceRefused(t *testing.T) {
	t.Parallel()
	dir := openFolder(t)
	p := compile(t, dir, "description: x\nbash: echo\nsecurity: {isolation: container}\n")
	_, err := engine.New(engine.Config{}).Run(context.Background(), p, nil, engine.WithRunEnv(world(dir)), engine.WithPermissionTrace())
	if refused, _ := errors.AsType[*outcome.ConfinementError](err); refused == nil || !strings.Contains(err.Error(), "container") {
		t.Errorf("%v", err)
	}
}
