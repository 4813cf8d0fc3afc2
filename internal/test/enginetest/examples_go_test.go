package enginetest

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/test/needtest"
	"github.com/flowrun/flowrun/internal/test/sizetest"
)

// goModule is a small module with a test, which prints its version.
func goModule() map[string]string {
	return map[string]string{
		"mod/go.mod":       "module example.org/tiny\n\ngo 1.21\n",
		"mod/main.go":      "package main\n\nimport \"os\"\n\nvar version = \"none\"\n\nfunc main() { os.Stdout.WriteString(version + \"\\n\") }\n",
		"mod/main_test.go": "package main\n\nimport \"testing\"\n\nfunc TestVersion(t *testing.T) {\n\tif version == \"\" {\n\t\tt.Fail()\n\t}\n}\n",
		"mod/LICENSE":      "Do what you like.\n",
	}
}

// goEnv keeps the go command away from the network and from files around the folder. The flags of
// these tests apply too, so that what has been compiled for them is used.
func goEnv() []string {
	return []string{"GOFLAGS=-mod=mod -buildvcs=false " + os.Getenv("GOFLAGS"), "GOPROXY=off", "GOWORK=off", "GOTOOLCHAIN=local"}
}

// builderEnv is goEnv for examples that build. In the small size a stand-in for the go command is first on the PATH, because
// to compile the standard library for several systems takes half a minute where nobody has yet. Nothing builds with ill.go, and
// a program says its version.
func builderEnv(t *testing.T) []string {
	t.Helper()
	if sizetest.Chosen() != sizetest.Small {
		return goEnv()
	}
	bin := folder(t, map[string]string{"go": `#!/bin/sh
[ ! -f ill.go ] || exit 1
for word; do
	case $last in -o) program=$word/tiny ;; esac
	case $word in *main.version=*) version=${word##*=} ;; esac
	last=$word
done
[ "$1" != version ] || echo go version stand-in
[ -z "$program" ] || printf '#!/bin/sh\necho %s\n' "$version" >"$program"
[ -z "$program" ] || chmod +x "$program"
`})
	return append(goEnv(), "PATH="+bin+":"+os.Getenv("PATH"))
}

// TestReleaseExample builds three archives, looks into them, checks the checksums and
// runs the program; then a module that is not formatted, and a version that is none.
func TestReleaseExample(t *testing.T) {
	needtest.Programs(t, "go", "gofmt", "tar", "git")
	t.Parallel()
	dir, env := folder(t, goModule()), builderEnv(t)
	params := map[string]any{"FOLDER": "mod", "VERSION": "v1.2.3", "NAME": "tiny", "SYSTEMS": []any{runtime.GOOS, "windows"}}
	if runtime.GOOS == "windows" {
		params["SYSTEMS"] = []any{"linux", "windows"}
	}
	exampleEnded(t, runExample(t, "release", dir, params, env...), dag.Succeeded, `(?s)OK\n3 archives of tiny v1\.2\.3\n$`)

	dist := filepath.Join(dir, "mod/dist")
	list := filesIn(t, dist)
	if len(list) != 4 || list[0] != "checksums.txt" || slices.Contains(list, "tiny_v1.2.3_windows_arm64.tar.gz") {
		t.Fatalf("in dist: %v", list)
	}
	sums := textOf(t, filepath.Join(dist, "checksums.txt"))
	for _, name := range list[1:] {
		sum := fmt.Sprintf("%x", sha256.Sum256([]byte(textOf(t, filepath.Join(dist, name)))))
		if !strings.Contains(sums, sum+"  "+name) {
			t.Errorf("%s is not in checksums.txt:\n%s", name, sums)
		}
		out, err := exec.Command("tar", "-tzf", filepath.Join(dist, name)).Output()
		program := strings.TrimSuffix(name, ".tar.gz") + "/tiny"
		if err != nil || !bytes.Contains(out, []byte(program)) || !bytes.Contains(out, []byte("/LICENSE")) {
			t.Errorf("%s holds %s %v", name, out, err)
		}
	}
	here := fmt.Sprintf("tiny_v1.2.3_%s_%s", runtime.GOOS, runtime.GOARCH)
	if slices.Contains(list, here+".tar.gz") {
		if out, err := exec.Command("tar", "-C", dir, "-xzf", filepath.Join(dist, here+".tar.gz")).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if out, err := exec.Command(filepath.Join(dir, here, "tiny")).Output(); err != nil || string(out) != "v1.2.3\n" {
			t.Errorf("the program says %q, %v", out, err)
		}
	}

	// Nothing has changed: no test and no build runs, and the archives are there.
	if err := os.RemoveAll(dist); err != nil {
		t.Fatal(err)
	}
	res := runExample(t, "release", dir, params, env...)
	exampleEnded(t, res, dag.Succeeded, `3 archives of tiny`)
	for _, id := range []string{"test", "vet", "format", "build[windows-amd64]"} {
		if s := exampleStep(t, res, id); s.Status != dag.Reused {
			t.Errorf("%s %s, want reused", id, s.Status)
		}
	}
	if again := textOf(t, filepath.Join(dist, "checksums.txt")); again != sums {
		t.Errorf("other archives:\n%s\nwant:\n%s", again, sums)
	}

	if err := os.WriteFile(filepath.Join(dir, "mod/ugly.go"), []byte("package   main\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	params["OUT"] = "other"
	res = runExample(t, "release", dir, params, env...)
	exampleEnded(t, res, dag.Failed, ``)
	if s := exampleStep(t, res, "format"); s.Status != dag.Failed || !strings.Contains(s.Error, "ugly.go") {
		t.Errorf("%+v", s)
	}
	if _, err := os.Stat(filepath.Join(dir, "mod/other")); err == nil {
		t.Error("something was built though a check failed")
	}
}

// TestLicencesExample lists the modules a program is linked with, one of which has a
// licence that is not accepted.
func TestLicencesExample(t *testing.T) {
	needtest.Programs(t, "go")
	t.Parallel()
	files := map[string]string{
		"mod/go.mod":  "module example.org/tiny\n\ngo 1.21\n",
		"mod/main.go": "package main\n\nimport (\n",
	}
	for name, licence := range map[string]string{
		"mit": "MIT License\n\nPermission is hereby granted, free of\ncharge", "apache": "\n        Apache License\n   Version 2.0", "gpl": "  GNU GENERAL PUBLIC LICENSE\n",
		"bsd": "Copyright\n\nRedistribution and use in source and binary forms", "unused": "GNU AFFERO GENERAL PUBLIC LICENSE", "none": "",
	} {
		files["mod/go.mod"] += fmt.Sprintf("\nrequire example.org/%s v1.0.0\n\nreplace example.org/%[1]s => ../%[1]s\n", name)
		files[name+"/go.mod"] = "module example.org/" + name + "\n\ngo 1.21\n"
		files[name+"/x.go"] = "package " + name + "\n"
		if licence != "" {
			files[name+"/LICENSE"] = licence
		}
		if name != "unused" {
			files["mod/main.go"] += fmt.Sprintf("\t_ \"example.org/%s\"\n", name)
		}
	}
	files["mod/main.go"] += ")\n\nfunc main() {}\n"
	dir := folder(t, files)
	want := "Apache example.org/apache v1.0.0\nBSD example.org/bsd v1.0.0\nGPL example.org/gpl v1.0.0\nMIT example.org/mit v1.0.0\nnone example.org/none v1.0.0\n"

	res := runExample(t, "licences", dir, map[string]any{"FOLDER": "mod", "FORBID": []any{"AGPL"}}, goEnv()...)
	exampleEnded(t, res, dag.Succeeded, ``)
	if res.Output != want {
		t.Errorf("got:\n%s\nwant:\n%s", res.Output, want)
	}
	res = runExample(t, "licences", dir, map[string]any{"FOLDER": "mod"}, goEnv()...)
	exampleEnded(t, res, dag.Failed, ``)
	if s := exampleStep(t, res, "judge"); s.Error != "not accepted: GPL, of example.org/gpl v1.0.0\nnot accepted: none, of example.org/none v1.0.0\n" {
		t.Error(s.Error)
	}
}

// TestCloneBuildExample clones a repository that the test makes, at a branch and at a
// commit, and builds it; then one whose tests fail, and what is not a repository.
func TestCloneBuildExample(t *testing.T) {
	needtest.Programs(t, "git", "go", "make")
	t.Parallel()
	dir, env := folder(t, goModule()), builderEnv(t)
	git := func(args ...string) string {
		t.Helper()
		c := exec.Command("git", append([]string{"-C", filepath.Join(dir, "mod"), "-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"}, args...)...)
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	git("init", "-q", "-b", "main")
	git("add", ".")
	git("commit", "-q", "-m", "it's the first")
	first := git("rev-parse", "HEAD")
	git("checkout", "-q", "-b", "made")
	if err := os.WriteFile(filepath.Join(dir, "mod/Makefile"), []byte("all:\n\techo made >product\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	git("add", ".")
	git("commit", "-q", "-m", "a Makefile")
	git("checkout", "-q", "-b", "ill", "main")
	if err := os.WriteFile(filepath.Join(dir, "mod/ill.go"), []byte("package main\n\nfunc ill() { return 1 }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	git("add", ".")
	git("commit", "-q", "-m", "does not build")
	git("checkout", "-q", "--orphan", "empty")
	git("rm", "-qrf", ".")
	git("commit", "-q", "--allow-empty", "-m", "nothing")

	for _, c := range []struct {
		ref    string
		status dag.Status
		output string
		step   string // the one that failed
	}{
		{"main", dag.Succeeded, `^built with go \w+ it's the first\n$`, ""},
		{first, dag.Succeeded, `^built with go \w+ it's the first\n$`, ""},
		{first[:10], dag.Succeeded, `^built with go \w+ it's the first\n$`, ""}, // by the fallback
		{"made", dag.Succeeded, `^built with make \w+ a Makefile\n$`, ""},
		{"ill", dag.Failed, ``, "go"},
		{"empty", dag.Failed, ``, "kind"},
		{"no-such-branch", dag.Failed, ``, "clone"},
	} {
		res := runExample(t, "clone-build", dir, map[string]any{"REPO": "mod", "REF": c.ref, "KEEP": "kept-" + c.ref}, env...)
		exampleEnded(t, res, c.status, c.output)
		if s := exampleStep(t, res, "clone"); (s.Attempts > 1 || s.Fallback) != slices.Contains([]string{first[:10], "no-such-branch"}, c.ref) {
			t.Errorf("%s: %d attempts to clone, fallback %t", c.ref, s.Attempts, s.Fallback)
		}
		if c.step != "" && exampleStep(t, res, c.step).Status != dag.Failed {
			t.Errorf("%s: %+v", c.ref, res.Steps)
		}
		if _, err := os.Stat(filepath.Join(dir, "kept-"+c.ref)); (err == nil) != (c.status == dag.Succeeded) {
			t.Errorf("%s: kept: %v", c.ref, err)
		}
	}
	if got := textOf(t, filepath.Join(dir, "kept-made/product")); got != "made\n" {
		t.Errorf("the product is %q", got)
	}
}
