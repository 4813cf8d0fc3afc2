//go:build unix

package container

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/confinement"
	"github.com/flowrun/flowrun/internal/engine/permission"
	"github.com/flowrun/flowrun/internal/engine/place"
	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/os/proc"
	"github.com/flowrun/flowrun/internal/os/procid"
)

// host starts nothing.
type host struct{ proc.Host }

func (host) Domain() procid.Domain { return 7 }

// newRunner returns a Runner in the folder dir, which is the workspace, with a docker that is never started. Its own files
// are in the folder files.
func newRunner(t *testing.T, dir, files string) *Runner {
	t.Helper()
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "docker"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return &Runner{Confine: confinement.Confinement{Image: "img"}, Resolve: func(path string) string {
		if filepath.IsAbs(path) {
			return path
		}
		return filepath.Join(dir, path)
	}, Machine: place.Machine{Run: "r", Step: "s", Host: host{}, Path: bin, NoCore: func() bool { return false },
		Environ: func(more ...[]string) []string { return append([]string{"PATH=" + bin}, slices.Concat(more...)...) },
		File: func(pattern, text string) (string, error) {
			f, err := os.CreateTemp(files, pattern)
			if err != nil {
				return "", err
			}
			_, err = f.WriteString(text)
			return f.Name(), errors.Join(err, f.Close())
		}}}
}

// valuesOf returns the values of an option in a command line.
func valuesOf(argv []string, option string) (list []string) {
	for i, word := range argv {
		if word == option {
			list = append(list, argv[i+1])
		}
	}
	return list
}

// The command line names variables, whose values only the environment of the program has. Variables that the program would
// use itself are in a file, which is gone in the end, also after a second try.
func TestSpecVariables(t *testing.T) {
	dir, files := t.TempDir(), t.TempDir()
	r := newRunner(t, dir, files)
	for range 2 {
		spec, err := r.Spec(Command{Argv: []string{"sh"}, Dir: dir, Environ: []string{"TOKEN=secret words", "PATH=/image/bin", "EMPTY=", "DOCKER_HOST=tcp://secret"}})
		if err != nil {
			t.Fatal(err)
		}
		if got := valuesOf(spec.Args, "--env"); !slices.Equal(got, []string{"HOME=/tmp", "TOKEN", "EMPTY"}) {
			t.Errorf("--env %q", got)
		}
		if got := spec.Env[1:]; !slices.Equal(got, []string{"TOKEN=secret words", "EMPTY="}) {
			t.Errorf("the environment of docker is %q", got)
		}
		text, err := os.ReadFile(strings.Join(valuesOf(spec.Args, "--env-file"), " "))
		if string(text) != "PATH=/image/bin\nDOCKER_HOST=tcp://secret\n" {
			t.Errorf("the file has %q, %v", text, err)
		}
		if strings.Contains(strings.Join(spec.Args, " "), "secret") {
			t.Errorf("everybody sees the value: %q", spec.Args)
		}
	}
	r.Close()
	if left, err := os.ReadDir(files); len(left) > 0 || err != nil {
		t.Errorf("files are left: %v, %v", left, err)
	}
	_, err := r.Spec(Command{Argv: []string{"sh"}, Dir: dir, Environ: []string{"DOCKER_CONFIG={\n}"}})
	var refused place.InputError
	if !errors.As(err, &refused) || !strings.Contains(err.Error(), "DOCKER_CONFIG") {
		t.Errorf("a value of two lines in the file: %v", err)
	}
}

// Which folders of this machine are in the container.
func TestSpecFolders(t *testing.T) {
	top := t.TempDir()
	for _, name := range []string{"project/sub", "other", "temp", "own", "given"} {
		if err := os.MkdirAll(filepath.Join(top, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	at := func(name string) string { return filepath.Join(top, name) }
	if err := os.WriteFile(at("file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	grants := permission.Grants{"filesystem:write:" + at("own"), "filesystem:read:" + at("given"), "filesystem:read:" + at("own/x"), "filesystem:execute:" + at("file"), "filesystem:read:" + at("absent")}
	const ro, empty = " readonly", " in memory"
	for _, c := range []struct {
		name, dir, temp string
		command         Command
		enforced        bool
		want            []string // mounts, or the error
	}{
		{name: "the workspace", dir: "project", want: []string{"project"}},
		{name: "a folder in it", dir: "project/sub", want: []string{"project"}},
		{name: "a folder beside it, and that of the run", dir: "other", temp: "temp", want: []string{"project", "other", "temp"}},
		{name: "files of the step", dir: "project", command: Command{Read: []string{"/r"}, Write: []string{"/w"}, Artifacts: "/kept"}, want: []string{"project", "/w", "/r" + ro, "/kept" + ro}},
		{name: "artifacts in the workspace", dir: "project", command: Command{Artifacts: at("project/kept")}, want: []string{"project"}},
		{name: "permissions alone", dir: "project", temp: "temp", enforced: true, want: []string{"own", "temp", "given" + ro, "file" + ro, "project" + empty}},
		{name: "permissions for the folder", dir: "own", enforced: true, want: []string{"own", "given" + ro, "file" + ro}},
		{name: "no folder", dir: "absent", want: []string{`directory "absent" does not exist`}},
		{name: "a file", dir: "file", want: []string{`directory "file" is not a folder`}},
		{name: "the root", dir: "/", want: []string{"/ cannot be the workspace"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRunner(t, at("project"), t.TempDir())
			if c.enforced {
				r.Confine.Enforced, r.Confine.Grants = true, grants
			}
			c.command.Argv, c.command.Dir = []string{"sh"}, at(c.dir)
			if c.dir == "/" {
				c.command.Dir = "/"
			}
			if c.temp != "" {
				r.Temp = at(c.temp)
			}
			spec, err := r.Spec(c.command)
			if err != nil {
				if got := strings.ReplaceAll(err.Error(), top+"/", ""); len(c.want) != 1 || !strings.Contains(got, c.want[0]) {
					t.Errorf("%s, want %q", got, c.want)
				}
				return
			}
			var got []string
			for _, mount := range valuesOf(spec.Args, "--mount") {
				mount = strings.ReplaceAll(mount, top+"/", "")
				if path, ok := strings.CutPrefix(mount, "type=tmpfs,target="); ok {
					got = append(got, path+empty)
					continue
				}
				path, more, _ := strings.Cut(strings.TrimPrefix(mount, "type=bind,source="), ",target=")
				got = append(got, path+strings.ReplaceAll(strings.TrimPrefix(more, path), ",", " "))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// What a definition may mount. A restricted tool mounts only what it may use anyway, wherever a link leads.
func TestMounts(t *testing.T) {
	top := permission.RealPath(t.TempDir())
	at := func(name string) string { return filepath.Join(top, name) }
	for _, name := range []string{"project/data", "outside", "given", "a,b"} {
		if err := os.MkdirAll(at(name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(at("outside"), at("project/link")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name     string
		source   string
		writable bool
		tool     confinement.Confinement
		want     string
	}{
		{"relative", "data", false, confinement.Confinement{}, "type=bind,source=TOP/project/data,target=/in,readonly"},
		{"writable", "data", true, confinement.Confinement{}, "type=bind,source=TOP/project/data,target=/in"},
		{"a comma", at("a,b"), true, confinement.Confinement{}, `type=bind,"source=TOP/a,b",target=/in`},
		{"anything, where nothing is restricted", "link", true, confinement.Confinement{}, "type=bind,source=TOP/outside,target=/in"},
		{"restricted, in the workspace", "data", true, confinement.Confinement{Reduced: true}, "type=bind,source=TOP/project/data,target=/in"},
		{"restricted, a link out of it", "link", true, confinement.Confinement{Reduced: true}, "may not change TOP/outside"},
		{"restricted, readable", at("given"), false, confinement.Confinement{Reduced: true}, "type=bind,source=TOP/given,target=/in,readonly"},
		{"restricted, only readable", at("given"), true, confinement.Confinement{Reduced: true}, "may not change TOP/given"},
		{"restricted, outside", at("outside"), false, confinement.Confinement{Reduced: true}, "may not read TOP/outside"},
		{"absent", "absent", false, confinement.Confinement{}, "TOP/project/absent, which container.mounts has, does not exist"},
		{"nothing", "", false, confinement.Confinement{}, "the source of /in is empty"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRunner(t, at("project"), t.TempDir())
			r.Tool, r.Definition = c.tool, &Definition{Mounts: []Mount{{Source: expr.Literal(c.source), Target: "/in", Writable: c.writable}}}
			made := &container{writable: []string{at("project")}, granted: []string{at("given")}}
			got := ""
			if err := r.applyContainer(made); err != nil {
				got = err.Error()
			} else {
				got = strings.Join(made.mounts, " ")
			}
			got = strings.ReplaceAll(got, top, "TOP")
			if got != c.want && (strings.HasPrefix(c.want, "type=") || !strings.Contains(got, c.want)) {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

// A definition cannot give back what its tool takes away.
func TestDefinitionWithinTool(t *testing.T) {
	network := permission.Grants{"network:external:example.org"}
	for _, c := range []struct {
		name    string
		of      *Definition
		tool    confinement.Confinement
		image   string
		network bool
		refused string
	}{
		{"none", nil, confinement.Confinement{Image: "tool", Network: true}, "tool", true, ""},
		{"its own image", &Definition{Image: "own"}, confinement.Confinement{Image: "tool", Network: true}, "own", false, ""},
		{"network", &Definition{Image: "own", Network: true}, confinement.Confinement{}, "own", true, ""},
		{"network of an isolated tool", &Definition{Image: "own", Network: true}, confinement.Confinement{Image: "tool"}, "own", false, "container.network"},
		{"network without a permission", &Definition{Image: "own", Network: true}, confinement.Confinement{Enforced: true}, "own", false, "container.network"},
		{"network with a permission", &Definition{Image: "own", Network: true}, confinement.Confinement{Enforced: true, Grants: network}, "own", true, ""},
		{"a user", &Definition{Image: "own", User: "root"}, confinement.Confinement{}, "own", false, ""},
		{"a user of a reduced tool", &Definition{Image: "own", User: "root"}, confinement.Confinement{Reduced: true}, "own", false, "container.user"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.of.Within(c.tool); got.Image != c.image || got.Network != c.network || got.Reduced != c.tool.Reduced || got.Enforced != c.tool.Enforced {
				t.Errorf("%+v", got)
			}
			if c.of == nil {
				return
			}
			got := fmt.Sprint(errors.Join(c.of.Refused(c.tool)...))
			if c.refused == "" && got != "<nil>" || !strings.Contains(got, c.refused) {
				t.Errorf("refused: %s, want %q", got, c.refused)
			}
		})
	}
}

// A container is abandoned only if the process that its name has, of this user's runs in the same place, has ended.
func TestAbandonedContainer(t *testing.T) {
	self := procid.Self()
	dead := fmt.Sprintf("%d.%d.", self.PID, self.Start+1) // no process has both
	for name, want := range map[string]bool{
		containerName(7):               false,
		containerPrefix + dead + "7-x": true,
		containerPrefix + dead + "8-x": false,
		containerPrefix + dead + "0-x": false,
		"other-" + dead + "7-x":        false,
		containerPrefix + "db":         false,
	} {
		if got := abandonedContainer(name, 7); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// What exit codes of container programs mean. A message of the step itself is kept.
func TestExplain(t *testing.T) {
	for _, c := range []struct {
		code          int
		memory        int64
		own           bool
		message, want string
	}{
		{code: 125, want: "podman could not start the container"},
		{code: 127, want: "to use another image: security.image"},
		{code: 126, own: true, want: "to use another image: container.image"},
		{code: 137, memory: 64 << 20, message: "ended by KILL", want: "the memory limit of 64 MiB was exceeded"},
		{code: 137, message: "ended by KILL", want: "ended by KILL"},
		{code: 127, message: "of the step", want: "of the step"},
		{code: 3, want: ""},
	} {
		r := &Runner{own: &container{program: "/usr/bin/podman", image: "img"}}
		r.Confine.MaxMemory = c.memory
		if c.own {
			r.Definition = &Definition{}
		}
		res := dag.Result{ExitCode: c.code, Message: c.message}
		r.Explain(&res)
		if !strings.Contains(res.Message, c.want) || c.want == c.message && res.Message != c.message {
			t.Errorf("%d: %q, want %q", c.code, res.Message, c.want)
		}
	}
}

// Containers differ in their words if anything differs that a command could notice.
func TestWords(t *testing.T) {
	word, words := expr.Literal, func(list ...string) (all []*expr.Template) {
		for _, text := range list {
			all = append(all, expr.Literal(text))
		}
		return all
	}
	seen := map[string]int{}
	for i, k := range []*Definition{
		nil, {Image: "a"}, {Image: "b"}, {Image: "a", User: "b"}, {Image: "a", Network: true}, {Image: "a", Entrypoint: true},
		{Image: "a", Mounts: []Mount{{word("x"), "/y", false}}}, {Image: "a", Mounts: []Mount{{word("x"), "/y", true}}}, {Image: "a", Mounts: []Mount{{word("z"), "/y", false}}},
		{Image: "a", Services: []Service{{Name: "db", Image: "x"}}}, {Image: "a", Services: []Service{{Name: "db", Image: "x", User: "u"}}},
		{Image: "a", Services: []Service{{Name: "db", Image: "x", Arguments: words("u")}}}, {Image: "a", Services: []Service{{Name: "db", Image: "x"}, {Name: "u"}}},
		{Image: "a", Services: []Service{{Name: "db", Image: "x", Arguments: words("env", "A")}}},
		{Image: "a", Services: []Service{{Name: "db", Image: "x", Env: []Variable{{"A", word("env")}}}}},
	} {
		list, err := k.Words(nil)
		if err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprintf("%q", list)
		if other, found := seen[text]; found {
			t.Errorf("definitions %d and %d have the same words: %s", other, i, text)
		}
		seen[text] = i
	}
}

// Of a long log the last lines are kept, and no part of a line.
func TestTail(t *testing.T) {
	for text, want := range map[string]string{"": "", "one\n": "one\n", "one\ntwo\n": "two\n", "a long line\nb\nc\n": "b\nc\n", "no line at all": " at all"} {
		if got := string(tail([]byte(text), 7)); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
