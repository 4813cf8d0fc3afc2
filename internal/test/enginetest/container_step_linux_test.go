package enginetest

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/test/programtest"
	"github.com/flowrun/flowrun/internal/test/waittest"
)

// containerRows are the rows of the table in docs/reference/containers.md, and the cases of testContainerSteps that try them.
// TestContainerKilled tries the last one.
var containerRows = map[string]string{
	"the command succeeds":                                              "succeeds",
	"the command fails":                                                 "command fails",
	"a service ends before it is ready":                                 "service ends",
	"a service is not healthy after its `retries`":                      "service is not healthy",
	"the image of a service cannot be had":                              "no image",
	"a service without `health` ends later":                             "service ends later",
	"the `timeout` of the step ends; it includes the start of services": "timeout",
	"the run is cancelled":                                              "cancelled",
	"flowrun is killed (`kill -9`)":                                     "",
}

// testContainerSteps tries the rows of the table in docs/reference/containers.md, and what a step in a container has.
func testContainerSteps(t *testing.T, p *podman) {
	dir := t.TempDir()
	w := world(dir)
	w.Env = p.env
	if err := os.Mkdir(filepath.Join(dir, "data"), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "data/file"), "of data\n")
	const image = `image: "` + busyboxImage + `"`
	const web = `web: {` + image + `, env: {GREETING: "{TEXT}"}, arguments: [sh, -c, 'mkdir /x; echo "$GREETING" >/x/index.html; echo listening; exec httpd -f -p 8080 -h /x'],
          health: {command: "wget -qO- http://web:8080/", interval: 50ms, retries: 1000}}`
	page := map[string]string{"cancelled": "cancelled"} // the statuses of the cases
	for _, c := range []struct {
		name, step string
		status     dag.Status
		reason     string
		output     string
		stderr     string // part of it
		message    string // part of it
	}{
		{"succeeds", `container: {` + image + `, services: {` + web + `}}
    sh: wget -qO- http://web:8080/`, dag.Succeeded, "", `it's $(id)` + "\n", "", ""},
		{"two services", `container: {` + image + `, services: {` + web + `, second: {` + image + `, arguments: [httpd, -f, -p, "8081", -h, /bin], health: {command: "wget -qO/dev/null http://second:8081/true", interval: 50ms, retries: 1000}}}}
    sh: wget -qO- http://web:8080/ && wget -qO- http://second:8081/true | wc -c | grep -qv '^0' && ls /sys/class/net`, dag.Succeeded, "", "it's $(id)\nlo\n", "", ""},
		{"command fails", `container: {` + image + `, services: {` + web + `}}
    sh: echo bad >&2; exit 3`, dag.Failed, "exit", "", "bad\n[web] listening\n", ""},
		{"service ends", `container: {` + image + `, services: {web: {` + image + `, arguments: [sh, -c, "echo boom; exit 9"], health: {command: "false", interval: 50ms, retries: 1000}}}}
    sh: echo never`, dag.Failed, "service", "", "[web] boom\n", "the service web ended before it was ready: exit code 9"},
		{"service ends later", `container: {` + image + `, services: {web: {` + image + `, arguments: [sh, -c, "echo gone; sleep 2; exit 9"]}}}
    sh: sleep 3; echo done`, dag.Succeeded, "", "done\n", "", ""},
		{"service is not healthy", `container: {` + image + `, services: {web: {` + image + `, arguments: [sh, -c, "echo up; exec sleep 1000"], health: {command: "sh -c 'echo no; exit 4'", timeout: 2m, interval: 50ms, retries: 2}}}}
    sh: echo never`, dag.Failed, "service", "", "", "the service web is not healthy after 3 checks: exit code 4: no"},
		{"health check takes too long", `container: {` + image + `, services: {web: {` + image + `, arguments: [sh, -c, "echo up; exec sleep 1000"], health: {command: sleep 1000, timeout: 100ms, interval: 50ms, retries: 2}}}}
    sh: echo never`, dag.Failed, "service", "", "[web] up\n", "the service web is not healthy after 3 checks: it took longer than 100ms"},
		{"no image", `container: {` + image + `, services: {web: {image: "localhost/nothing:1"}}}
    sh: echo never`, dag.Failed, "service", "", "localhost/nothing:1", "the service web ended before it was ready: exit code 125"},
		{"no image of the step", `container: {image: "localhost/nothing:1", pull: never}
    sh: echo never`, dag.Failed, "exit", "", "localhost/nothing:1", "podman could not start the container"},
		{"timeout", `timeout: 8s
    container: {` + image + `, services: {web: {` + image + `, arguments: [sh, -c, "echo up; exec sleep 1000"], health: {command: "false", interval: 2s, retries: 100000}}}}
    sh: echo never`, dag.TimedOut, "", "", "[web] up\n", ""},
		{"mounts", `container: {` + image + `, pull: never, mounts: [{source: data, target: /in}, {source: "{WORKSPACE}/data", target: /out, writable: true}]}
    sh: cat /in/file; touch /in/no || echo read-only; touch /out/yes && ls /in`, dag.Succeeded, "", "of data\nread-only\nfile\nyes\n", "", ""},
		{"mount is missing", `container: {` + image + `, mounts: [{source: nothing, target: /in}]}
    sh: echo never`, dag.Failed, "start-failed", "", "", "which container.mounts has, does not exist; create it first"},
		{"entry point", `container: {` + image + `, user: "12:34"}
    run: id -u`, dag.Succeeded, "", "12\n", "", ""},
		{"outputs", `container: {` + image + `}
    outputs: {x: integer}
    sh: echo x=7 >>"$FLOWRUN_OUTPUT"; cat
    input: "{TEXT}"`, dag.Succeeded, "", `it's $(id)`, "", ""},
		{"loop", `for-each: {items: [a, b]}
    container: {` + image + `, services: {` + web + `}}
    sh: wget -qO- http://web:8080/`, dag.Succeeded, "", `["it's $(id)","it's $(id)"]` + "\n", "", ""},
	} {
		page[c.name] = c.status.String()
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if !slices.Contains([]string{"succeeds", "service ends", "no image of the step", "mount is missing"}, c.name) {
				needContainers(t)
			}
			plan := compile(t, t.TempDir(), "description: In a container\nparameters: {TEXT: {type: string, description: text}}\nsteps:\n  - name: one\n    "+c.step+"\n")
			res, err := engine.New(engine.Config{Grace: shortGrace}).Run(context.Background(), plan, map[string]any{"TEXT": `it's $(id)`}, engine.WithRunEnv(w))
			if err != nil {
				t.Fatal(err)
			}
			s := res.Step("one")
			if s.Status != c.status || c.reason != "" && s.Reason != c.reason || s.Output != c.output || !strings.Contains(s.Error, c.stderr) || !strings.Contains(s.Message, c.message) {
				t.Errorf("%s (%s): printed %q and %q: %s", s.Status, s.Reason, s.Output, s.Error, s.Message)
			}
			if left := p.ofRun(t, res.ID); left != "" {
				t.Errorf("containers are left: %s", left)
			}
			if len(res.Notices) > 0 {
				t.Errorf("notices: %+v", res.Notices)
			}
		})
	}
	t.Run("page", func(t *testing.T) {
		rows := tableRows(t, "docs/reference/containers.md", "| what happens |")
		if len(rows) != len(containerRows) {
			t.Errorf("the page has %d rows, and %d are tried", len(rows), len(containerRows))
		}
		before := ""
		for _, cells := range rows {
			said, _, _ := strings.Cut(strings.SplitN(cells[1], ",", 2)[0], ";")
			if said == "the same" {
				said = before
			}
			before = said
			if name, known := containerRows[cells[0]]; !known || name != "" && page[name] != said && said != "what the command makes of it" {
				t.Errorf("the page says of %q: %s; case %q is %s", cells[0], said, name, page[name])
			}
		}
	})
	t.Run("cancelled", func(t *testing.T) {
		needContainers(t)
		plan := compile(t, dir, "description: Is stopped\nparameters: {TEXT: {type: string, description: text, default: a}}\nsteps:\n  - name: one\n    container: {"+image+", services: {"+web+"}}\n    sh: touch started; while :; do sleep 1; done\n")
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		go func() {
			waitFor(t, filepath.Join(dir, "started"))
			cancel()
		}()
		res, err := engine.New(engine.Config{Grace: shortGrace}).Run(ctx, plan, nil, engine.WithRunEnv(w))
		if err != nil || res.Status != dag.Cancelled {
			t.Errorf("%v: %+v", err, res)
		}
		if left := p.ofRun(t, res.ID); left != "" {
			t.Errorf("containers are left: %s", left)
		}
	})
	t.Run("example", func(t *testing.T) {
		needContainers(t)
		b, err := os.ReadFile("examples/nightly-database.yaml")
		if err != nil {
			t.Fatal(err)
		}
		// A web server of busybox instead of PostgreSQL, and a program that asks it.
		text := strings.NewReplacer("docker.io/library/postgres:17-alpine", busyboxImage, "user: postgres", "arguments: [sh, -c, 'mkdir /tmp/x; echo 2 >/tmp/x/index.html; exec httpd -f -p 5432 -h /tmp/x']",
			"pg_isready --host db --username postgres", "wget -qO- http://db:5432/", "psql --quiet --set ON_ERROR_STOP=1 --file /dump.sql", "grep -q orders /dump.sql",
			`echo 'select count(*) from :"table"' | psql --tuples-only --no-align --set table={TABLE}`, "wget -qO- http://$PGHOST:5432/").Replace(string(b))
		write(t, filepath.Join(dir, "dump.sql"), "create table orders (id int);\n")
		res, err := engine.New(engine.Config{}).Run(context.Background(), compile(t, dir, text), nil, engine.WithRunEnv(w))
		if err != nil || res.Status != dag.Succeeded || res.Output != "2 rows were restored\n" {
			t.Errorf("%v: %+v", err, res)
		}
	})
}

// TestContainerKilled tries the row of the table about kill -9: a resume starts new services, and nothing of the old ones is
// left.
func TestContainerKilled(t *testing.T) {
	needContainers(t)
	t.Parallel()
	p := newPodman(t)
	dir := t.TempDir()
	program, err := programtest.Build(dir)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "job.yaml"), `description: Is killed
steps:
  - name: one
    on-interrupt: retry
    container:
      image: "`+busyboxImage+`"
      services: {web: {image: "`+busyboxImage+`", arguments: [sh, -c, 'mkdir /x; echo $RANDOM$RANDOM >/x/index.html; exec httpd -f -p 8080 -h /x'], health: {command: "wget -qO- http://web:8080/", interval: 50ms, retries: 1000}}}
    sh: wget -qO- http://web:8080/ >>seen; test -e go || sleep 1000
`)
	flowrun := func(args ...string) *exec.Cmd {
		cmd := exec.Command(program, args...)
		cmd.Dir, cmd.Env = dir, append(p.env, "FLOWRUN_STATE_DIR="+filepath.Join(dir, "state"))
		return cmd
	}
	seen := func() []string {
		b, _ := os.ReadFile(filepath.Join(dir, "seen"))
		return strings.Fields(string(b))
	}
	first := flowrun("run", "./job.yaml")
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	if !waittest.Holds(waittest.Limit, func() bool { return len(seen()) == 1 }) {
		t.Fatal("the step does not start")
	}
	first.Process.Kill()
	first.Wait()
	write(t, filepath.Join(dir, "go"), "")
	if out, err := flowrun("show", "latest").Output(); !strings.Contains(string(out), "interrupted") {
		t.Errorf("%v: %s", err, out)
	}
	if out, err := flowrun("resume", "latest").CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	if got := seen(); len(got) != 2 || got[0] == got[1] {
		t.Errorf("the step has seen %q; each life has services of its own", got)
	}
	if left := p.run(t, "ps", "--all", "--quiet"); left != "" {
		t.Errorf("containers are left: %s", left)
	}
}

// testRestrictedContainer: what a tool may not do, a container of one of its steps may not do either.
func testRestrictedContainer(t *testing.T, p *podman) {
	dir, outside := t.TempDir(), t.TempDir()
	write(t, filepath.Join(outside, "secret"), "secret\n")
	for _, name := range []string{"in", "closed"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(outside, filepath.Join(dir, "in/link")); err != nil {
		t.Fatal(err)
	}
	w := world(dir)
	w.Env = p.env
	const image = `image: "` + busyboxImage + `"`
	for _, c := range []struct{ name, security, container, message string }{
		{"enforced mount", "enforce: true, required-permissions: [filesystem:read:in]", "mounts: [{source: in, target: /in}]", ""},
		{"enforced, closed", "enforce: true, required-permissions: [filesystem:read:in]", "mounts: [{source: closed, target: /in}]", "may not read"},
		{"enforced, writable", "enforce: true, required-permissions: [filesystem:read:in]", "mounts: [{source: in, target: /in, writable: true}]", "may not change"},
		{"enforced, link", "enforce: true, required-permissions: [filesystem:read:in]", "mounts: [{source: in/link, target: /in}]", "may not read"},
		{"isolated, inside", "isolation: container", "mounts: [{source: in, target: /in, writable: true}]", ""},
		{"isolated, outside", "isolation: container", "mounts: [{source: " + outside + ", target: /in}]", "may not read"},
		{"reduced, outside", "execution-privilege: reduced", "mounts: [{source: " + outside + ", target: /in}]", "may not read"},
		{"plain, outside", "", "mounts: [{source: " + outside + ", target: /in}]", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.message == "" && c.name != "enforced mount" {
				needContainers(t)
			}
			plan := compile(t, dir, "description: Restricted\nsecurity: {"+c.security+"}\nsteps:\n  - name: one\n    container: {"+image+", "+c.container+"}\n    sh: ls /in >/dev/null && echo ran; ls /sys/class/net\n")
			res, err := engine.New(engine.Config{}).Run(context.Background(), plan, nil, engine.WithRunEnv(w))
			if err != nil {
				t.Fatal(err)
			}
			s := res.Step("one")
			if c.message == "" && s.Output != "ran\nlo\n" || !strings.Contains(s.Message, c.message) || (c.message != "") != (s.Status == dag.Failed) {
				t.Errorf("%s: %q %q: %s", s.Status, s.Output, s.Error, s.Message)
			}
		})
	}
	// A tool that a restricted tool uses has no more rights.
	for _, c := range []struct{ container, message string }{{"network: true", "container.network needs a permission"}, {"user: \"0\"", "container.user is not possible"}} {
		write(t, filepath.Join(dir, "inner.yaml"), "name: inner\ndescription: Inner\nsteps:\n  - name: one\n    container: {"+image+", "+c.container+"}\n    sh: echo never\n")
		plan := compile(t, dir, "description: Outer\nsecurity: {isolation: container, "+image+"}\nsteps:\n  - {name: use, use-tool: ./inner.yaml}\n")
		res, err := engine.New(engine.Config{}).Run(context.Background(), plan, nil, engine.WithRunEnv(w))
		if err != nil {
			t.Fatal(err)
		}
		if s := res.Step("use"); s.Status != dag.Failed || !strings.Contains(res.Message+s.Message+res.Step("use/one").Message, c.message) {
			t.Errorf("%s: %s: %s %s", c.container, s.Status, res.Message, s.Message)
		}
	}
}
