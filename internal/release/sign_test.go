package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/test/needtest"
)

// newKey makes an SSH key and returns the file of its private half.
func newKey(t *testing.T) string {
	t.Helper()
	key := filepath.Join(t.TempDir(), "release-key")
	if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return key
}

// asDocumented is the command of docs/reference/release.md that begins with a pattern, as a person would type it.
func asDocumented(t *testing.T, pattern string) string {
	t.Helper()
	page, err := os.ReadFile(root + "/docs/reference/release.md")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?m)^    (`+pattern+`.*)$`).FindAllSubmatch(page, -1)
	if len(found) != 1 {
		t.Fatalf("docs/reference/release.md has %d commands %s, want 1", len(found), pattern)
	}
	return string(found[0][1])
}

// verify follows docs/reference/release.md with the SHA256SUMS of a folder and its signature, trusting a key.
func verify(t *testing.T, dir, key string) (string, error) {
	t.Helper()
	sums := filepath.Join(dir, "SHA256SUMS")
	dir = t.TempDir()
	for name, file := range map[string]string{"flowrun-release.pub": key + ".pub", "SHA256SUMS": sums, "SHA256SUMS.sig": sums + ".sig"} {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, name), string(content))
	}
	c := exec.Command("bash", "-e", "-c", asDocumented(t, "echo .*>allowed_signers")+"\n"+asDocumented(t, "ssh-keygen -Y verify"))
	c.Dir = dir
	out, err := c.CombinedOutput()
	return string(out), err
}

func TestSign(t *testing.T) {
	needtest.Programs(t, "ssh-keygen", "bash")
	dir, key := t.TempDir(), newKey(t)
	file := filepath.Join(dir, "SHA256SUMS")
	write(t, file, "0a0b  flowrun\n")
	signed := func() {
		t.Helper()
		if err := run([]string{"sign", "-key", key, file}, new(bytes.Buffer)); err != nil {
			t.Fatal(err)
		}
	}
	signed()
	if out, err := verify(t, dir, key); err != nil || !strings.Contains(out, `Good "flowrun-release" signature for flowrun with ED25519 key SHA256:`) {
		t.Errorf("%v: %s", err, out)
	}
	if out, err := verify(t, dir, newKey(t)); err == nil {
		t.Errorf("signed with another key, and accepted: %s", out)
	}
	write(t, file, "0a0c  flowrun\n")
	if out, err := verify(t, dir, key); err == nil {
		t.Errorf("changed after it was signed, and accepted: %s", out)
	}
	signed() // a signature that was there is replaced
	if out, err := verify(t, dir, key); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	if err := os.Remove(file + ".sig"); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("ssh-keygen", "-q", "-Y", "sign", "-f", key, "-n", "git", file).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if out, err := verify(t, dir, key); err == nil {
		t.Errorf("signed as a commit, and accepted: %s", out)
	}
}

// TestUnsigned: no signature of something else is left beside a file for which there is no key.
func TestUnsigned(t *testing.T) {
	file := filepath.Join(t.TempDir(), "SHA256SUMS")
	write(t, file, "0a0b  flowrun\n")
	write(t, file+".sig", "an older one")
	var out bytes.Buffer
	if err := run([]string{"sign", "-key", "", file}, &out); err != nil || !strings.Contains(out.String(), "SHA256SUMS is unsigned") {
		t.Errorf("%v: %s", err, &out)
	}
	if _, err := os.Stat(file + ".sig"); !os.IsNotExist(err) {
		t.Errorf("the signature is still there: %v", err)
	}
}

func TestSignWithoutAUsableKey(t *testing.T) {
	needtest.Programs(t, "ssh-keygen")
	file := filepath.Join(t.TempDir(), "SHA256SUMS")
	write(t, file, "0a0b  flowrun\n")
	if err := run([]string{"sign", "-key", file, file}, new(bytes.Buffer)); err == nil || !strings.Contains(err.Error(), "cannot sign "+file) {
		t.Error(err)
	}
	if _, err := os.Stat(file + ".sig"); !os.IsNotExist(err) {
		t.Errorf("there is a signature: %v", err)
	}
}

func write(t *testing.T, file, content string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}
