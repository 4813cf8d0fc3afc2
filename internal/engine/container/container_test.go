package container

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/internal/engine/confinement"
)

// The command line of a container.
func TestContainerArgv(t *testing.T) {
	const always = "run --rm --name flowrun-x --label flowrun.run=r --label flowrun.step=s --log-driver none " +
		"--cap-drop ALL --security-opt no-new-privileges "
	const own = "--interactive --read-only --tmpfs /tmp:rw,exec,mode=1777 "
	const end = "--entrypoint sh img -c exit"
	for _, c := range []struct {
		name string
		c    container
		want string
	}{
		{"least", container{program: "/usr/bin/docker"}, "/usr/bin/docker " + always + "--pids-limit 2048 --network none " + own + "--env HOME=/tmp " + end},
		{"most", container{program: "/usr/bin/docker", tty: true, network: true, limits: confinement.Limits{MaxMemory: 1000, MaxProcesses: 30, MaxCPU: 1500 * time.Millisecond, CPU: 0.5, MaxFileSize: 5000, MaxOpenFiles: 64}, noCore: true, user: "1000:100", dir: "/work",
			writable: []string{"/work", "/other,place"}, readOnly: []string{"/tmp/script"}, env: []string{"A", "HOME"}, envFile: "/tmp/env"},
			"/usr/bin/docker " + always + "--pids-limit 30 --memory 1000 --memory-swap 1000 --cpus 0.5 --ulimit cpu=2:2 --ulimit fsize=5000:5000 --ulimit nofile=64:64 --ulimit core=1:1 " + own + "--tty --user 1000:100 " +
				`--mount type=bind,source=/work,target=/work --mount type=bind,"source=/other,place","target=/other,place" ` +
				"--mount type=bind,source=/tmp/script,target=/tmp/script,readonly --workdir /work --env A --env HOME --env-file /tmp/env " + end},
		{"podman of a user", container{program: "/usr/bin/podman", user: "1000:100"},
			"/usr/bin/podman " + always + "--network none " + own + "--user 1000:100 --userns keep-id --env HOME=/tmp " + end},
		{"podman of root", container{program: "/usr/bin/podman", user: "0:0"},
			"/usr/bin/podman " + always + "--network none " + own + "--user 0:0 --env HOME=/tmp " + end},
		{"with services", container{program: "/usr/bin/podman", user: "1000:100", joined: "flowrun-y", mounts: []string{"type=bind,source=/hosts,target=/etc/hosts,readonly"}},
			"/usr/bin/podman " + always + "--network container:flowrun-y " + own + "--user 0:0 --mount type=bind,source=/hosts,target=/etc/hosts,readonly --env HOME=/tmp " + end},
		{"user and entry point of the definition", container{program: "/usr/bin/podman", user: "1000:100", guest: "postgres", pull: "never", asIs: true, network: true},
			"/usr/bin/podman " + strings.TrimSuffix(always, " ") + " --pull never " + own + "--user postgres --env HOME=/tmp img sh -c exit"},
	} {
		c.c.name, c.c.image, c.c.run, c.c.step = "flowrun-x", "img", "r", "s"
		if got := strings.Join(c.c.argv([]string{"sh", "-c", "exit"}), " "); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

func TestWithin(t *testing.T) {
	for _, c := range []struct {
		path, folder string
		want         bool
	}{{"/a", "/a", true}, {"/a/b", "/a", true}, {"/ab", "/a", false}, {"/", "/a", false}, {"/a/..b", "/a", true}, {"/b/a", "/a", false}} {
		if got := within(c.path, c.folder); got != c.want {
			t.Errorf("%s in %s: %v", c.path, c.folder, got)
		}
	}
}

// Variables that a container program reads itself do not reach it from a step.
func TestIsClientVariable(t *testing.T) {
	for _, name := range []string{"PATH", "DOCKER_HOST", "CONTAINERS_CONF", "CONTAINER_HOST", "LD_PRELOAD", "XDG_RUNTIME_DIR", "GODEBUG", "https_proxy"} {
		if !isClientVariable(name) {
			t.Error(name)
		}
	}
	if slices.ContainsFunc([]string{"A", "MY_PATH", "TOKEN", "FLOWRUN_RUN"}, isClientVariable) {
		t.Error("a name of the step's own is taken for the program's")
	}
}
