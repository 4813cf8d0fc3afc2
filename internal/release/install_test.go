package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/flowrun/flowrun/internal/test/needtest"
)

// fakeRelease serves a release as GitHub does. Its programs are scripts that print the version.
func fakeRelease(t *testing.T, version, sums string) *httptest.Server {
	t.Helper()
	name := "flowrun_" + version + "_" + runtime.GOOS + "_" + runtime.GOARCH
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, program := range []string{"flowrun", "flowrun-temporal"} {
		text := "#!/bin/sh\necho " + program + " " + version + "\n"
		if err := w.WriteHeader(&tar.Header{Name: name + "/" + program, Mode: 0o755, Size: int64(len(text))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	w.Close()
	z.Close()
	if sums == "" {
		sums = "%x  %s.tar.gz\n"
	}
	if strings.Contains(sums, "%x") {
		sums = fmt.Sprintf(sums, sha256.Sum256(b.Bytes()), name)
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/latest":
			http.Redirect(w, r, "/tag/v"+version, http.StatusFound)
		case "/tag/v" + version:
		case "/download/v" + version + "/SHA256SUMS":
			fmt.Fprint(w, sums)
		case "/download/v" + version + "/" + name + ".tar.gz":
			w.Write(b.Bytes()) // the script reports what it did not get
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// TestInstall runs install.sh against releases that are right and wrong.
func TestInstall(t *testing.T) {
	needtest.Programs(t, "sh", "tar", "gzip", "awk", "curl", "sha256sum")
	script, err := filepath.Abs(root + "/install.sh")
	if err != nil {
		t.Fatal(err)
	}
	machine := func(t *testing.T, name string) string { // a folder with a uname that says so
		dir := t.TempDir()
		write(t, filepath.Join(dir, "uname"), "#!/bin/sh\necho "+name+"\n")
		if err := os.Chmod(filepath.Join(dir, "uname"), 0o755); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	for _, c := range []struct {
		name, sums, version, path, want string
	}{
		{name: "the newest", want: "flowrun 1.2.3\n"},
		{name: "one version", version: "v1.2.3", want: "flowrun 1.2.3\n"},
		{name: "sha256sum -b", sums: "%x *%s.tar.gz\n", want: "flowrun 1.2.3\n"},
		{name: "no such version", version: "9.9.9", want: "install.sh: there is no release 9.9.9 at "},
		{name: "another checksum", sums: strings.Repeat("0", 64) + "  flowrun_1.2.3_" + runtime.GOOS + "_" + runtime.GOARCH + ".tar.gz\n", want: "; nothing was installed"},
		{name: "not in the list", sums: "0  other.tar.gz\n", want: "SHA256SUMS does not list flowrun_1.2.3_"},
		{name: "another system", path: machine(t, "SunOS"), want: "there is no release for SunOS"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, home := fakeRelease(t, "1.2.3", c.sums), t.TempDir()
			into := filepath.Join(home, ".local", "bin")
			if err := os.MkdirAll(into, 0o755); err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(into, "flowrun"), "old")
			cmd := exec.Command("sh", script)
			cmd.Env = []string{"PATH=" + strings.TrimPrefix(c.path+":"+os.Getenv("PATH"), ":"), "HOME=" + home, "FLOWRUN_RELEASES=" + s.URL, "VERSION=" + c.version, "TMPDIR=" + t.TempDir()}
			out, err := cmd.CombinedOutput()
			good := strings.HasPrefix(c.want, "flowrun ")
			if (err == nil) != good || !strings.Contains(string(out), c.want) {
				t.Errorf("%v: %s\nwant %q", err, out, c.want)
			}
			entries, err := os.ReadDir(into)
			if err != nil {
				t.Fatal(err)
			}
			now, err := os.ReadFile(filepath.Join(into, "flowrun"))
			switch {
			case err != nil:
				t.Error(err)
			case good && (len(entries) != 2 || !strings.Contains(string(now), "1.2.3")), !good && (len(entries) != 1 || string(now) != "old"):
				t.Errorf("the folder has %v, and flowrun is %q", entries, now)
			}
		})
	}
}

// TestAction runs the steps of action.yml as the runner of GitHub does, against a release.
func TestAction(t *testing.T) {
	needtest.Programs(t, "bash", "tar", "gzip", "awk", "curl", "sha256sum")
	scripts := actionScripts(t)
	s, dir := fakeRelease(t, "1.2.3", ""), t.TempDir()
	here, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "path")
	write(t, path, "")
	for i, script := range scripts {
		added, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("bash", "-e", "-o", "pipefail", "-c", script)
		cmd.Dir = dir
		cmd.Env = []string{"PATH=" + strings.TrimPrefix(strings.TrimSpace(string(added))+":"+os.Getenv("PATH"), ":"), "HOME=" + dir, "RUNNER_TEMP=" + dir, "GITHUB_PATH=" + path,
			"GITHUB_ACTION_PATH=" + here, "FLOWRUN_RELEASES=" + s.URL, "VERSION=1.2.3", "COMMAND=flowrun run report 'a b'"}
		out, err := cmd.CombinedOutput()
		if want := "flowrun 1.2.3\n"; err != nil || !strings.Contains(string(out), want) {
			t.Errorf("step %d: %v: %s\nwant %q", i, err, out, want)
		}
	}
}

// actionScripts returns the scripts of action.yml, in their order.
func actionScripts(t *testing.T) (scripts []string) {
	t.Helper()
	text, err := os.ReadFile(root + "/action.yml")
	if err != nil {
		t.Fatal(err)
	}
	var action struct {
		Runs struct {
			Steps []struct{ Shell, Run string }
		}
	}
	if err := yaml.Unmarshal(text, &action); err != nil {
		t.Fatal(err)
	}
	for _, s := range action.Runs.Steps {
		if s.Shell != "bash" || strings.Contains(s.Run, "${{") {
			t.Errorf("a step is not for bash, or has an expression in its script: %+v", s)
		}
		scripts = append(scripts, s.Run)
	}
	if len(scripts) != 2 {
		t.Fatalf("%d steps", len(scripts))
	}
	return scripts
}
