package rundir

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/os/procid"
)

// SweepPrivate removes only folders that certainly are private folders of the run.
func TestSweepPrivate(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	own, err := MakePrivate("r.1/x", 0)
	if err != nil {
		t.Fatal(err)
	}
	kept := t.TempDir()
	os.WriteFile(filepath.Join(kept, "precious"), nil, 0o600)
	link := filepath.Join(temp, privatePrefix("r.1/x")+procid.Domain(0).Tag()+"-2")
	if err := os.Symlink(kept, link); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(kept, filepath.Join(own, "link")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"flowrun-r.1%2Fx", "flowrun-r.1%2Fx-private", "flowrun-r.1%2Fx-private1.2.3-1x", "flowrun-r.1-private1.2.3-1", "flowrun-r-private1.2.3-1"} {
		if err := os.Mkdir(filepath.Join(temp, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	os.WriteFile(filepath.Join(temp, privatePrefix("r.1/x")+procid.Domain(0).Tag()+"-3"), nil, 0o600)
	if err := SweepPrivate("r.1/x"); err != nil {
		t.Error(err)
	}
	left, _ := filepath.Glob(temp + "/*")
	if len(left) != 7 {
		t.Errorf("%d are left, want 7: %q", len(left), left)
	}
	if _, err := os.Stat(own); !os.IsNotExist(err) {
		t.Error("the private folder is left:", err)
	}
	if _, err := os.Stat(filepath.Join(kept, "precious")); err != nil {
		t.Error("a link was followed:", err)
	}
	t.Setenv("TMPDIR", filepath.Join(temp, "nowhere"))
	if err := SweepPrivate("r"); err != nil {
		t.Error("no temporary directory:", err)
	}
}

// SweepAbandoned removes the folders of killed processes, whatever run they belong to. It keeps
// those of living and of unknown processes.
func TestSweepAbandoned(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	domain := procid.DomainOf(temp)
	own := domain.Tag()
	at := own[strings.LastIndexByte(own, '.'):]
	stays := map[string]bool{
		"flowrun-a-private" + own + "-1":                 true,
		"flowrun-b-private4194304.5" + at + "-1":         false,
		"flowrun-c-private4194304.5.0-1":                 true,
		"flowrun-d-private-private4194304.5" + at + "-2": false,
		"other-private4194304.5" + at + "-1":             true,
		"flowrun-e-private4194304.5" + at + "-x":         true,
		"flowrun-f-private17":                            true,
	}
	for name := range stays {
		if err := os.Mkdir(filepath.Join(temp, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := SweepAbandoned(domain); err != nil {
		t.Error(err)
	}
	for name, want := range stays {
		_, err := os.Stat(filepath.Join(temp, name))
		if got := err == nil; got != want && runtime.GOOS != "windows" { // there nobody can tell who lives
			t.Errorf("%s is there: %t, want %t", name, got, want)
		}
	}
}
