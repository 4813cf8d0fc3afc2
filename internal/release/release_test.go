package main

import (
	"bytes"
	"crypto/sha256"
	"debug/elf"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/test/needtest"
	"github.com/flowrun/flowrun/internal/test/sizetest"
	"github.com/google/go-cmp/cmp"
)

const (
	theVersion = "1.2.3-rc.1"
	theCommit  = "0123456789abcdef0123456789abcdef01234567"
)

// nfpm is the program that makes packages.
const nfpm = "github.com/goreleaser/nfpm/v2/cmd/nfpm"

// needsModules is needtest.Programs for what the programs of all systems are made of: go test
// fetches only what this one needs.
func needsModules(t *testing.T) {
	t.Helper()
	for _, system := range []string{"linux", "darwin", "windows"} {
		for dir, pkg := range map[string]string{root: "./cmd/flowrun", root + "/temporal": "./cmd/flowrun-temporal", root + "/internal/release/packages": nfpm} {
			c := exec.Command("go", "list", "-deps", pkg)
			c.Dir = dir
			c.Env = append(os.Environ(), "GOPROXY=off", "GOFLAGS=-mod=readonly", "CGO_ENABLED=0", "GOOS="+system)
			if out, err := c.CombinedOutput(); err != nil {
				needtest.Missing(t, "modules for %s are missing; run go mod download in %s: %s", system, dir, out)
			}
		}
	}
}

// root is the folder of this module.
const root = "../.."

// checkout copies the module to a folder, as a clone would be.
func checkout(t *testing.T, to string) string {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		below, _ := filepath.Rel(root, path)
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || below == "dist"):
			return fs.SkipDir
		case d.IsDir():
			return os.MkdirAll(filepath.Join(to, below), 0o755)
		case !d.Type().IsRegular():
			return nil
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, below), b, 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
	return to
}

// in runs a program in a folder, with a home and a state of its own and without the
// network.
func in(t *testing.T, dir string, env []string, name string, args ...string) string {
	t.Helper()
	c := exec.Command(name, args...)
	c.Dir = dir
	c.Env = append(os.Environ(), "HOME="+dir+"-home", "FLOWRUN_STATE_DIR="+dir+"-state", "GOPROXY=off", "GOTOOLCHAIN=local")
	for _, v := range []string{"GOCACHE", "GOMODCACHE"} { // which go by HOME
		value, err := exec.Command("go", "env", v).Output()
		if err != nil {
			t.Fatal(err)
		}
		c.Env = append(c.Env, v+"="+strings.TrimSpace(string(value)))
	}
	c.Env = append(c.Env, env...)
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%s %q: %v\n%s%s", name, args, err, out, stderr.Bytes())
	}
	return string(out)
}

// TestRelease makes a release twice, in two folders that share nothing but the go
// command's cache (in the long size, not even that, and for every platform),
// and holds them against each other; then it looks at what there is in one.
func TestRelease(t *testing.T) {
	needtest.Programs(t, "go", "bash", "ssh-keygen")
	if raceEnabled {
		t.Skip("the race detector has nothing to see here")
	}
	needtest.ReleaseFlags(t)
	needsModules(t)
	temp := t.TempDir()
	flowrun := filepath.Join(temp, "flowrun")
	in(t, root, nil, "go", "build", "-buildvcs=false", "-o", flowrun, "./cmd/flowrun")
	key := newKey(t)
	args := []string{"run", "./internal/release/release.yaml", "VERSION=" + theVersion, "COMMIT=" + theCommit, "EPOCH=1700000000", "SIGNING_KEY=" + key}
	var cold []string
	least := 9 // the archive, what its programs consist of, two packages, the formula, the provenance, the sums and their signature
	if sizetest.Chosen() != sizetest.Long {
		args = append(args, "SYSTEMS=linux", "ARCHITECTURES=amd64")
	} else {
		least = 12 // several archives
		cold = []string{"GOCACHE=" + t.TempDir()}
	}
	one := checkout(t, filepath.Join(temp, "one"))
	in(t, one, nil, flowrun, args...)
	two := checkout(t, filepath.Join(temp, "another", "place"))
	in(t, two, cold, flowrun, args...)

	made := contents(t, filepath.Join(one, "dist"))
	if diff := cmp.Diff(sums(made), sums(contents(t, filepath.Join(two, "dist")))); diff != "" {
		t.Fatalf("the two releases differ: -one +two:\n%s", diff)
	}
	checkSums(t, made)
	checkProvenance(t, made["flowrun_"+theVersion+"_provenance.json"], made)
	if out, err := verify(t, filepath.Join(one, "dist"), key); err != nil {
		t.Errorf("the signature: %v: %s", err, out)
	}
	for name := range made {
		if target, ok := strings.CutSuffix(name, ".temporal.spdx.json"); ok {
			checkArchive(t, filepath.Join(one, "dist"), target, made)
		}
	}
	if n := len(made); n < least {
		t.Errorf("%d files: %v", n, sums(made))
	}

	checkPackages(t, filepath.Join(one, "dist"))

	// Nothing has changed: what was built comes out of the cache.
	in(t, one, nil, flowrun, args...)
	if diff := cmp.Diff(sums(made), sums(contents(t, filepath.Join(one, "dist")))); diff != "" {
		t.Errorf("once more in the same folder: -first +second:\n%s", diff)
	}
	if status := stepStatus(t, in(t, one, nil, flowrun, "show", "latest", "-o", "json"), "build[linux-amd64]"); status != "reused" {
		t.Errorf("the second run's build %s, want reused", status)
	}
}

// checkPackages installs the package for Debian, and removes it again.
func checkPackages(t *testing.T, dist string) {
	t.Helper()
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		return
	}
	deb := filepath.Join(dist, "flowrun_"+theVersion+"_linux_amd64.deb")
	if _, err := os.Stat(strings.TrimSuffix(deb, "deb") + "rpm"); err != nil {
		t.Error(err)
	}
	dpkg, err := exec.LookPath("dpkg")
	if err != nil && os.Getenv("CI") != "true" {
		t.Logf("the package is not installed: %v", err)
		return
	}
	machine := t.TempDir()
	for _, dir := range []string{"info", "updates", "triggers"} {
		if err := os.MkdirAll(filepath.Join(machine, "var/lib/dpkg", dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(machine, "var/lib/dpkg/status"), "")
	in(t, root, nil, dpkg, "--root="+machine, "--force-not-root", "--install", deb)
	if out := in(t, root, nil, filepath.Join(machine, "usr/bin/flowrun"), "version"); !strings.Contains(out, theVersion) {
		t.Errorf("the installed program says %q", out)
	}
	for _, file := range []string{"usr/bin/flowrun-temporal", "usr/lib/systemd/user/flowrun.service", "usr/share/man/man1/flowrun.1.gz", "usr/share/doc/flowrun/changelog.gz", "usr/share/bash-completion/completions/flowrun",
		"usr/share/zsh/vendor-completions/_flowrun", "usr/share/fish/vendor_completions.d/flowrun.fish", "usr/share/doc/flowrun/copyright"} {
		if _, err := os.Stat(filepath.Join(machine, file)); err != nil {
			t.Error(err)
		}
	}
	in(t, root, nil, dpkg, "--root="+machine, "--force-not-root", "--remove", "flowrun")
	if _, err := os.Stat(filepath.Join(machine, "usr/bin/flowrun")); err == nil {
		t.Error("the removed package has left the program")
	}
}

func stepStatus(t *testing.T, run, id string) string {
	t.Helper()
	var doc struct {
		Steps []struct{ ID, Status string }
	}
	if err := json.Unmarshal([]byte(run), &doc); err != nil {
		t.Fatal(err)
	}
	for _, s := range doc.Steps {
		if s.ID == id {
			return s.Status
		}
	}
	return "is not there"
}

// contents are the files in a folder by their names.
func contents(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]byte{}
	for _, e := range entries {
		if all[e.Name()], err = os.ReadFile(filepath.Join(dir, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

func sums(files map[string][]byte) map[string]string {
	all := map[string]string{}
	for name, b := range files {
		all[name] = fmt.Sprintf("%x", sha256.Sum256(b))
	}
	return all
}

// checkSums holds SHA256SUMS against the files beside it.
func checkSums(t *testing.T, made map[string][]byte) {
	t.Helper()
	want := ""
	for _, name := range slices.Sorted(maps.Keys(made)) {
		if !strings.HasPrefix(name, "SHA256SUMS") {
			want += fmt.Sprintf("%x  %s\n", sha256.Sum256(made[name]), name)
		}
	}
	if diff := cmp.Diff(want, string(made["SHA256SUMS"])); diff != "" {
		t.Errorf("SHA256SUMS: -want +got:\n%s", diff)
	}
}

// checkArchive looks into the archive of one target: what there must be is there, the
// program is that of the bill of materials, needs no other file, and knows its version.
func checkArchive(t *testing.T, dist, target string, made map[string][]byte) {
	t.Helper()
	windows := strings.Contains(target, "_windows_")
	archive, program, second := target+".tar.gz", "flowrun", "flowrun-temporal"
	if windows {
		archive, program, second = target+".zip", "flowrun.exe", "flowrun-temporal.exe"
	}
	found := map[string]packed{}
	for _, f := range unpack(t, filepath.Join(dist, archive)) {
		name, ok := strings.CutPrefix(f.name, target+"/")
		if !ok {
			t.Errorf("%s holds %s, outside of its folder", archive, f.name)
		}
		found[name] = f
	}
	for _, name := range []string{program, second, "LICENSE", "LICENSES-OF-OTHERS", "LICENSES-OF-OTHERS-TEMPORAL", "README.md", "CHANGELOG.md", "man/man1/flowrun.1",
		"systemd/flowrun.service", "completions/flowrun.bash", "completions/_flowrun", "completions/flowrun.fish", "completions/flowrun.ps1"} {
		if len(found[name].content) == 0 {
			t.Errorf("%s holds no %s", archive, name)
		}
	}
	content := found[program].content
	checkSBOM(t, made[target+".spdx.json"], theVersion, fmt.Sprintf("%x", sha256.Sum256(content)))
	checkSBOM(t, made[target+".temporal.spdx.json"], theVersion, fmt.Sprintf("%x", sha256.Sum256(found[second].content)))
	if of := "go.temporal.io/sdk v1"; !bytes.Contains(found["LICENSES-OF-OTHERS-TEMPORAL"].content, []byte(of)) {
		t.Errorf("%s: no licence of %s", archive, of)
	}
	for _, of := range []string{"The Go standard library: LICENSE", "gopkg.in/yaml.v3 v3", "modernc.org/sqlite v1"} {
		if !bytes.Contains(found["LICENSES-OF-OTHERS"].content, []byte(of)) {
			t.Errorf("%s: no licence of %s", archive, of)
		}
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Dir(filepath.Dir(here)), dist} {
		if bytes.Contains(content, []byte(path)) || bytes.Contains(found[second].content, []byte(path)) {
			t.Errorf("%s: a program holds a path of this machine, %s", archive, path)
		}
	}
	if strings.Contains(target, "_linux_") {
		checkStatic(t, content)
		checkStatic(t, found[second].content)
		for _, name := range takenByContainer(t) {
			if len(found[name].content) == 0 {
				t.Errorf("Containerfile takes %s out of %s, which holds none", name, archive)
			}
		}
	}
	if strings.HasSuffix(target, "_"+runtime.GOOS+"_"+runtime.GOARCH) {
		checkVersion(t, content)
	}
}

// takenByContainer are the files that Containerfile takes out of an archive.
func takenByContainer(t *testing.T) (names []string) {
	t.Helper()
	b, err := os.ReadFile(root + "/internal/release/Containerfile")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`/flowrun_\$\{VERSION\}_linux_\$\{TARGETARCH\}/(\S+)`).FindAllStringSubmatch(string(b), -1) {
		names = append(names, m[1])
	}
	if len(names) == 0 {
		t.Error("Containerfile takes nothing out of an archive")
	}
	return names
}

// checkStatic: no interpreter, no libraries; it runs in an empty container.
func checkStatic(t *testing.T, program []byte) {
	t.Helper()
	f, err := elf.NewFile(bytes.NewReader(program))
	if err != nil {
		t.Fatal(err)
	}
	libraries, _ := f.ImportedLibraries()
	interpreted := slices.ContainsFunc(f.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP })
	if len(libraries) > 0 || interpreted {
		t.Errorf("the program is not static: it needs %q", libraries)
	}
}

func checkVersion(t *testing.T, program []byte) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "flowrun")
	if err := os.WriteFile(file, program, 0o755); err != nil {
		t.Fatal(err)
	}
	var got map[string]string
	if err := json.Unmarshal([]byte(in(t, root, nil, file, "version", "-o", "json")), &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"version": theVersion, "commit": theCommit, "date": "2023-11-14T22:13:20Z", "go": runtime.Version(),
		"platform": runtime.GOOS + "/" + runtime.GOARCH, "compatibility": got["compatibility"], "release": theVersion, "schema": "flowrun/version.v1"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("version: -want +got:\n%s", diff)
	}
}

// TestReleaseTests runs the tests in release.yaml itself.
func TestReleaseTests(t *testing.T) {
	needtest.Programs(t, "go", "bash")
	out := in(t, root, nil, "go", "run", "./cmd/flowrun", "tool", "test", "./internal/release/release.yaml")
	if !strings.Contains(out, "tests: 2 ok") {
		t.Error(out)
	}
}

// TestInputsCoverWhatIsEmbedded: a file that gets into the program by go:embed must be
// among the inputs of the cached build, or a release could hold an old one.
func TestInputsCoverWhatIsEmbedded(t *testing.T) {
	needtest.Programs(t, "go")
	definition, err := os.ReadFile(root + "/internal/release/release.yaml")
	if err != nil {
		t.Fatal(err)
	}
	inputs := regexp.MustCompile(`inputs: \[(.*)\]`).FindSubmatch(definition)
	if inputs == nil {
		t.Fatal("release.yaml caches nothing")
	}
	patterns := strings.Split(strings.ReplaceAll(string(inputs[1]), `"`, ""), ", ")
	here, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	list := in(t, root, nil, "go", "list", "-deps", "-f", `{{if .Module}}{{if .Module.Main}}{{$d := .Dir}}{{range .EmbedFiles}}{{$d}}/{{.}}{{"\n"}}{{end}}{{end}}{{end}}`, "./cmd/flowrun")
	n := 0
	for file := range strings.Lines(list) {
		if file = strings.TrimSpace(file); file == "" {
			continue
		}
		n++
		below, err := filepath.Rel(here, file)
		if err != nil {
			t.Fatal(err)
		}
		below = filepath.ToSlash(below)
		if !slices.ContainsFunc(patterns, func(p string) bool { return matches(p, below) }) {
			t.Errorf("%s is embedded and none of the inputs in release.yaml, which are %q", below, patterns)
		}
	}
	if n == 0 {
		t.Error("nothing is embedded: is the test right?")
	}
}

// matches is the little of patterns that release.yaml uses.
func matches(pattern, file string) bool {
	if tail, ok := strings.CutPrefix(pattern, "**/"); ok {
		pattern, file = tail, path.Base(file)
	}
	if folder, ok := strings.CutSuffix(pattern, "**"); ok {
		return strings.HasPrefix(file, folder)
	}
	ok, _ := path.Match(pattern, file)
	return ok
}
