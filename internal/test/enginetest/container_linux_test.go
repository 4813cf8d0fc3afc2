package enginetest

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/notice"
	"github.com/flowrun/flowrun/internal/engine/outcome"
	"github.com/flowrun/flowrun/internal/test/needtest"
	"github.com/flowrun/flowrun/internal/test/sizetest"
	"github.com/flowrun/flowrun/internal/test/waittest"
)

// TestNoContainerProgram: without one the run is refused before its first step.
func TestNoContainerProgram(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := compile(t, dir, "description: Contained\nsecurity: {isolation: container}\nbash: touch ran\n")
	w := world(dir)
	w.Env = []string{"PATH=" + dir}
	_, err := engine.New(engine.Config{}).Run(context.Background(), p, nil, engine.WithRunEnv(w))
	var refused *outcome.ConfinementError
	if !errors.As(err, &refused) || len(refused.Problems) != 1 || !strings.Contains(err.Error(), "neither podman nor docker was found") {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "ran")); err == nil {
		t.Error("the step ran")
	}
}

// podman is a real one with storage of its own and an image of busybox.
type podman struct{ env []string }

// TestContainers runs real containers. A container takes a second of CPU time, so the small size has one of each kind; the
// command lines of all are tested in steps.
func TestContainers(t *testing.T) {
	t.Parallel()
	p := newPodman(t)
	for name, test := range map[string]func(*testing.T, *podman){"isolation": testIsolation, "steps": testContainerSteps, "restricted": testRestrictedContainer} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, p)
		})
	}
}

// needContainers skips what the small size leaves out.
func needContainers(t *testing.T) {
	t.Helper()
	sizetest.Need(t, sizetest.Gate, "a container takes a second of CPU time")
}

const busyboxImage = "localhost/busybox:1"

func newPodman(t *testing.T) *podman {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("a user's containers need subordinate ids, which this machine may not have; run it as root")
	}
	needtest.Programs(t, "podman", "runc", "busybox")
	dir, err := os.MkdirTemp("", "pod-*") // short: it holds sockets
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	conf, storage := filepath.Join(dir, "containers.conf"), filepath.Join(dir, "storage.conf")
	// As it works on old and new systems, as root and within a container.
	write(t, conf, "[engine]\nruntime = \"runc\"\ncgroup_manager = \"cgroupfs\"\nevents_logger = \"file\"\n[containers]\ndefault_ulimits = [\"nofile=1024:1024\", \"nproc=512:512\"]\n")
	write(t, storage, "[storage]\ndriver = \"vfs\"\ngraphroot = \""+dir+"/graph\"\nrunroot = \""+dir+"/run\"\n")
	p := &podman{append(os.Environ(), "CONTAINERS_CONF="+conf, "CONTAINERS_STORAGE_CONF="+storage)}
	archive := exec.Command("sh", "-c", `mkdir -p root/bin root/tmp root/proc root/sys root/dev root/etc && chmod 1777 root/tmp &&
		cp "$(readlink -f "$(command -v busybox)")" root/bin/busybox && for a in sh cat echo false grep httpd id ls mkdir sleep test touch true wc wget; do ln -s busybox "root/bin/$a"; done &&
		tar -C root -c . > root.tar`)
	archive.Dir = dir
	if out, err := archive.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	p.run(t, "import", filepath.Join(dir, "root.tar"), busyboxImage)
	if out, err := p.command("run", "--rm", busyboxImage, "/bin/true").CombinedOutput(); err != nil {
		needtest.Missing(t, "podman runs no container here: %v: %s", err, out)
	}
	return p
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func (p *podman) command(args ...string) *exec.Cmd {
	cmd := exec.Command("podman", args...)
	cmd.Env = p.env
	return cmd
}

// ofRun lists the containers of a run that are still there.
func (p *podman) ofRun(t *testing.T, run string) string {
	t.Helper()
	return p.run(t, "ps", "--all", "--quiet", "--filter", "label=flowrun.run="+run)
}

func (p *podman) run(t *testing.T, args ...string) string {
	t.Helper()
	var problems strings.Builder
	cmd := p.command(args...)
	cmd.Stderr = &problems
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("podman %s: %v: %s", args[0], err, &problems)
	}
	return strings.TrimSpace(string(out))
}

// testIsolation: what isolation: container promises, of a real one.
func testIsolation(t *testing.T, p *podman) {
	dir := t.TempDir()
	w := world(dir)
	w.Env = p.env
	t.Run("enforced", func(t *testing.T) {
		plan := compile(t, dir, `
description: Looks around
security: {isolation: container, image: "`+busyboxImage+`", enforce: true, required-permissions: [filesystem:read:in, filesystem:write:out]}
sh: 'cat in/a; echo x >out/b && cat out/b; ls; cat secret; echo x >in/a; touch here && echo taken'
`)
		for _, name := range []string{"in", "out"} {
			if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		write(t, filepath.Join(dir, "in/a"), "of in\n")
		write(t, filepath.Join(dir, "secret"), "secret\n")
		res, err := engine.New(engine.Config{}).Run(context.Background(), plan, nil, engine.WithRunEnv(w))
		if err != nil {
			t.Fatal(err)
		}
		if want := "of in\nx\nin\nout\ntaken\n"; res.Output != want {
			t.Errorf("printed %q, want %q: %+v", res.Output, want, res.Steps)
		}
		if _, err := os.Stat(filepath.Join(dir, "here")); err == nil {
			t.Error("the container wrote to the working directory")
		}
	})
	t.Run("bounds", func(t *testing.T) {
		needContainers(t)
		plan := compile(t, dir, `
description: Looks around
security: {isolation: container, image: "`+busyboxImage+`"}
parameters: {V: {type: string, description: value}}
environment: {variables: {LINES: "two\nlines"}}
steps:
  - {name: status, sh: 'grep -E "^(NoNewPrivs|CapEff|CapBnd):" /proc/self/status'}
  - {name: values, sh: 'printf "%s|%s" {V} "$LINES"'}
  - {name: large, sh: 'printf %s {V}{V} | wc -c'}
  - {name: outside, sh: 'cat {WORKSPACE}/outside; echo inside > {WORKSPACE}/inside'}
  - {name: root, sh: 'touch /bin/x || echo refused; touch /tmp/x && echo taken'}
  - {name: network, sh: 'ls /sys/class/net'}
  - {name: input, sh: 'cat', input: text}
  - {name: code, sh: 'exit 7', continue-on-error: true}
`)
		write(t, filepath.Join(dir, "outside"), "from outside\n")
		value := `it's "$(a)" ` + strings.Repeat("x", 200_000)
		res, err := engine.New(engine.Config{}).Run(context.Background(), plan, map[string]any{"V": value}, engine.WithRunEnv(w))
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]string{
			"status":  "CapEff:\t0000000000000000\nCapBnd:\t0000000000000000\nNoNewPrivs:\t1\n",
			"outside": "from outside\n", "root": "refused\ntaken\n", "network": "lo\n", "input": "text", "large": "400024\n",
		}
		for step, out := range want {
			if s := res.Step(step); s.Output != out {
				t.Errorf("%s: %s, printed %q, want %q: %s %s", step, s.Status, s.Output, out, s.Message, s.Error)
			}
		}
		if s := res.Step("values"); !strings.HasPrefix(s.Output, `it's "$(a)" xxx`) {
			t.Errorf("values: %.100q: %s %s", s.Output, s.Message, s.Error)
		}
		if s := res.Step("code"); s.ExitCode != 7 {
			t.Errorf("code: exit code %d: %s", s.ExitCode, s.Error)
		}
		if text, _ := os.ReadFile(filepath.Join(dir, "inside")); string(text) != "inside\n" {
			t.Errorf("the workspace holds %q", text)
		}
		if len(res.Notices) != 1 || res.Notices[0].Code != notice.Tolerated {
			t.Errorf("notices: %+v", res.Notices)
		}
	})
	t.Run("stopped", func(t *testing.T) {
		needContainers(t)
		plan := compile(t, dir, `
description: Does not want to end
security: {isolation: container, image: "`+busyboxImage+`"}
steps:
  - {name: stay, sh: 'trap "" TERM; touch {WORKSPACE}/started; while :; do sleep 1; done'}
`)
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		go func() {
			waitFor(t, filepath.Join(dir, "started"))
			cancel()
		}()
		res, err := engine.New(engine.Config{Grace: shortGrace}).Run(ctx, plan, nil, engine.WithRunEnv(w))
		if err != nil {
			t.Fatal(err)
		}
		if res.Status != dag.Cancelled {
			t.Errorf("the run %s: %+v", res.Status, res.Steps)
		}
		var left string
		waittest.Until(t, "end of all containers", func() bool {
			left = p.ofRun(t, res.ID)
			return left == ""
		}, func() any { return left })
	})
}
