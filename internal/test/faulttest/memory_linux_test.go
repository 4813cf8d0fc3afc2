package faulttest

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/test/needtest"
)

// TestMemoryV2: where a cgroup (version 2) above flowrun hands the memory controller
// down to root or to a user, a step that takes too much is ended whole and says so, and nothing is left of
// its limit. Few machines that tests run on are like that, so this boots one.
func TestMemoryV2(t *testing.T) {
	l, err := findLab()
	if err != nil {
		needtest.Missing(t, "cannot boot a machine: %v; install %s", err, packages)
	}
	b := &bench{lab: l, dir: t.TempDir()}
	b.prepare(t)
	disk := filepath.Join(b.dir, "disk")
	b.disk(t, disk)
	m := b.boot(t, b.initramfs, disk, "writeback=eager")
	defer m.kill()
	if a := m.run("cgroups"); a.code != 0 {
		m.fail("no cgroups: %s", a.stderr)
	}
	for _, who := range []string{"", "user "} {
		a := m.run(who + "flowrun run /guest/hungry.yaml --progress plain")
		if a.code != 0 || a.stdout != "fits" {
			t.Errorf("%sexit code %d, printed %q", who, a.code, a.stdout)
		}
		if strings.Count(a.stderr, "memory limit of 50 MB exceeded") != 1 || strings.Contains(a.stderr, "address space") {
			t.Errorf("%sit said:\n%s", who, a.stderr)
		}
		if left := m.run("find /sys/fs/cgroup -name flowrun-*"); left.stdout != "" {
			t.Errorf("%sleft behind: %s", who, left.stdout)
		}
	}
	if t.Failed() {
		m.fail("memory is not bounded as promised")
	}
}
