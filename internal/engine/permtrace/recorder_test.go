//go:build linux

package permtrace

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/engine/permission"
	"github.com/flowrun/flowrun/internal/os/systrace"
	"pgregory.net/rapid"

	"github.com/flowrun/flowrun/internal/test/proptest"
)

// The recorder only resolves links, so these paths need not exist.
const (
	home      = "/home/ann"
	workspace = "/home/ann/project"
)

func options(granted ...string) Options {
	o := Options{Places: Places{Workspace: workspace, Home: home}, StateDir: "/var/state", Run: "1m84ksk9c7v7v",
		Names: []Name{{"{FILE}", workspace + "/data/a.csv"}, {"{WORKSPACE}", workspace}, {"{TEMP}", "/tmp"}, {"~", home}}}
	for _, g := range granted {
		verb, path, _ := strings.Cut(g, ":{WORKSPACE}")
		resolved := g
		if path != "" || strings.HasSuffix(g, "}") {
			resolved = verb + ":" + workspace + path
		}
		o.Granted = append(o.Granted, permission.Permission{Written: g, Resolved: resolved})
	}
	return o
}

func start(o Options) *Recorder {
	r := &Recorder{}
	r.Observe(systrace.Access{Kind: systrace.Read, Target: workspace + "/before"}) // is ignored
	r.Start(o)
	return r
}

func TestNeeded(t *testing.T) {
	files := func(kind systrace.Kind, dir string, n int) (list []systrace.Access) {
		for i := range n {
			list = append(list, systrace.Access{Kind: kind, Target: fmt.Sprintf("%s/file%d", dir, i)})
		}
		return list
	}
	for _, c := range []struct {
		name   string
		used   []systrace.Access
		needed []string
	}{
		{"nothing", nil, []string{}},
		{"base of the system", []systrace.Access{{Kind: systrace.Read, Target: "/usr/lib/x.so"}, {Kind: systrace.Execute, Target: "/usr/bin/env"},
			{Kind: systrace.Write, Target: "/dev/null"}, {Kind: systrace.Read, Target: "/etc/passwd"}}, []string{}},
		{"files of flowrun", []systrace.Access{{Kind: systrace.Read, Target: "/var/state/runs/x/logs/a.out"},
			{Kind: systrace.Create, Target: "/tmp/flowrun-1m84ksk9c7v7v-step"}}, []string{}},
		{"a parameter", []systrace.Access{{Kind: systrace.Read, Target: workspace + "/data/a.csv"}}, []string{"filesystem:read:{FILE}"}},
		{"read and written", []systrace.Access{{Kind: systrace.Read, Target: workspace + "/x"}, {Kind: systrace.Write, Target: workspace + "/x"}},
			[]string{"filesystem:write:{WORKSPACE}/x"}},
		{"created and read", []systrace.Access{{Kind: systrace.Create, Target: workspace + "/out/x"}, {Kind: systrace.Read, Target: workspace + "/out/x"},
			{Kind: systrace.Write, Target: workspace + "/out/x"}, {Kind: systrace.Remove, Target: workspace + "/out/x"}},
			[]string{"filesystem:write:{WORKSPACE}/out"}},
		{"read, then created", []systrace.Access{{Kind: systrace.Read, Target: workspace + "/x"}, {Kind: systrace.Create, Target: workspace + "/x"}},
			[]string{"filesystem:write:{WORKSPACE}"}},
		{"in a new folder", []systrace.Access{{Kind: systrace.Create, Target: workspace + "/new"}, {Kind: systrace.Create, Target: workspace + "/new/sub/"},
			{Kind: systrace.Create, Target: workspace + "/new/sub/x"}, {Kind: systrace.Execute, Target: workspace + "/new/sub/x"}},
			[]string{"filesystem:execute:{WORKSPACE}", "filesystem:write:{WORKSPACE}"}},
		{"executed and read", []systrace.Access{{Kind: systrace.Execute, Target: workspace + "/bin/x"}, {Kind: systrace.Read, Target: workspace + "/bin/x"}},
			[]string{"filesystem:execute:{WORKSPACE}/bin/x"}},
		{"two files", files(systrace.Read, workspace+"/src", 2), []string{"filesystem:read:{WORKSPACE}/src/file0", "filesystem:read:{WORKSPACE}/src/file1"}},
		{"many files", files(systrace.Read, workspace+"/src", 20), []string{"filesystem:read:{WORKSPACE}/src"}},
		{"many files of the workspace", files(systrace.Read, workspace, 20), []string{"filesystem:read:{WORKSPACE}"}},
		{"a listed folder", append(files(systrace.Read, workspace+"/src", 2), systrace.Access{Kind: systrace.Read, Target: workspace + "/src"}), []string{"filesystem:read:{WORKSPACE}/src"}},
		{"many folders", slices.Concat(files(systrace.Read, workspace+"/a/b", 3), files(systrace.Read, workspace+"/a/c", 3), files(systrace.Read, "/srv/x/y", 2)),
			[]string{"filesystem:read:/srv/x/y/file0", "filesystem:read:/srv/x/y/file1", "filesystem:read:{WORKSPACE}/a/b",
				"filesystem:read:{WORKSPACE}/a/c/file0", "filesystem:read:{WORKSPACE}/a/c/file1", "filesystem:read:{WORKSPACE}/a/c/file2"}},
		{"the home directory is not granted", files(systrace.Read, home, 8), func() (list []string) {
			for i := range 8 {
				list = append(list, fmt.Sprintf("filesystem:read:~/file%d", i))
			}
			return list
		}()},
		{"cache of names", []systrace.Access{{Kind: systrace.UnixSocket, Target: "/var/run/nscd/socket"}}, []string{}},
		{"names", []systrace.Access{{Kind: systrace.Host, Target: "example.com:443"}, {Kind: systrace.Host, Target: "db.example.com:80"},
			{Kind: systrace.PrivateHost, Target: "db.example.com:80"}, {Kind: systrace.Host, Target: "localhost:80"}},
			[]string{"network:external:db.example.com:80", "network:external:example.com:443", "network:local:db.example.com:80", "network:local:localhost:80"}},
		{"addresses of this machine", []systrace.Access{{Kind: systrace.Connect, Target: "127.0.0.1:80"}, {Kind: systrace.Connect, Target: "[::1]:80"}},
			[]string{"network:local:127.0.0.1:80", "network:local:[::1]:80"}},
		{"without a proxy", []systrace.Access{{Kind: systrace.Host, Target: "example.com:443"}, {Kind: systrace.Connect, Target: "192.0.2.1:22"}}, []string{"network"}},
		{"a server and its client", []systrace.Access{{Kind: systrace.Accept, Target: "127.0.0.1:8080"}, {Kind: systrace.Connect, Target: "127.0.0.1:8080"}},
			[]string{"network:local"}},
		{"docker", []systrace.Access{{Kind: systrace.UnixSocket, Target: "/run/docker.sock"}}, []string{"network:local"}},
	} {
		r := start(options())
		for _, a := range c.used {
			r.Observe(a)
		}
		if got := r.Report().Needed; !slices.Equal(got, c.needed) {
			t.Errorf("%s: %q, want %q", c.name, got, c.needed)
		}
	}
}

func TestUnused(t *testing.T) {
	r := start(options("filesystem:read:{WORKSPACE}/data", "filesystem:write:{WORKSPACE}/out", "filesystem:write:{WORKSPACE}/cache",
		"filesystem:read:/usr/share", "network:external:example.com", "network:external:api.example.com", "tool:other", "environment:TOKEN"))
	for _, a := range []systrace.Access{{Kind: systrace.Read, Target: workspace + "/data/x"}, {Kind: systrace.Create, Target: workspace + "/out/new"},
		{Kind: systrace.Read, Target: workspace + "/cache/x"}, {Kind: systrace.Read, Target: "/usr/share/x"}, {Kind: systrace.Host, Target: "api.example.com:443"}} {
		r.Observe(a)
	}
	want := []string{"filesystem:write:{WORKSPACE}/cache", "filesystem:read:/usr/share", "network:external:example.com"}
	rep := r.Report()
	if !slices.Equal(rep.Unused, want) {
		t.Errorf("unused: %q, want %q", rep.Unused, want)
	}
	for _, kept := range []string{"tool:other", "environment:TOKEN", "network:external:api.example.com:443"} {
		if !slices.Contains(rep.Needed, kept) {
			t.Errorf("%s is missing in %q", kept, rep.Needed)
		}
	}
}

// Whatever was used, the report covers it, no line makes another one unnecessary, and there are few lines.
func TestReportCovers(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		part := rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "f", "g", "h", "i"})
		r := start(options())
		var used []systrace.Access
		for range rapid.IntRange(0, 60).Draw(t, "accesses") {
			file := workspace
			for range rapid.IntRange(1, 4).Draw(t, "depth") {
				file += "/" + part.Draw(t, "part")
			}
			kind := rapid.SampledFrom([]systrace.Kind{systrace.Read, systrace.Write, systrace.Create, systrace.Remove, systrace.Execute}).Draw(t, "kind")
			used = append(used, systrace.Access{Kind: kind, Target: file})
			r.Observe(used[len(used)-1])
		}
		var grants permission.Grants
		for _, line := range r.Report().Needed {
			grants = append(grants, strings.Replace(line, "{WORKSPACE}", workspace, 1))
		}
		for _, a := range used {
			v, _ := verbOf(a.Kind)
			if a.Kind == systrace.Create || a.Kind == systrace.Remove {
				a.Target = path.Dir(a.Target)
			}
			if !covered(grants, v, strings.Replace(a.Target, workspace+"/data/a.csv", "{FILE}", 1)) {
				t.Fatalf("%v is not covered by %q", a, grants)
			}
		}
		for i, line := range grants {
			v, path := split(line)
			if covered(slices.Delete(slices.Clone(grants), i, i+1), v, path) {
				t.Fatalf("%s is not needed beside the others of %q", line, grants)
			}
		}
		if len(grants) > 3*maxLines {
			t.Fatalf("%d lines", len(grants))
		}
	})
}

func split(line string) (verb, string) {
	parts := strings.SplitN(line, ":", 3)
	return verb(parts[1]), parts[2]
}

func covered(grants permission.Grants, v verb, path string) bool {
	return slices.ContainsFunc(grants, func(line string) bool {
		other, root := split(line)
		return (other == v || v == read) && contains(root, path)
	})
}

func TestRecords(t *testing.T) {
	state := t.TempDir()
	for i, file := range []string{"/a.yaml", "/b.yaml", "/a.yaml"} {
		dir := filepath.Join(state, "runs", fmt.Sprint(i))
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		r := Record{Run: fmt.Sprint(i), File: file, Granted: []string{"network"}, Report: Report{Needed: []string{}, Unused: []string{"network"}}}
		if err := r.Save(dir); err != nil {
			t.Fatal(err)
		}
	}
	list := Records(state, "/a.yaml")
	if len(list) != 2 || list[0].Run != "2" || list[1].Run != "0" || !slices.Equal(list[0].Unused, []string{"network"}) {
		t.Errorf("%+v", list)
	}
}
