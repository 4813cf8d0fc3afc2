package enginetest

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/flowrun/flowrun/internal/test/sshdtest"
)

// TestSSHKeyAfterKill: a private key that is a value is in no file, so it does not stay behind when flowrun is killed.
func TestSSHKeyAfterKill(t *testing.T) {
	const variable = "ENGINETEST_SSH_STEPS"
	if text := os.Getenv(variable); text != "" {
		b := newBed(t)
		b.world.Env = os.Environ()
		b.run(context.Background(), text, nil)
		return
	}
	t.Parallel()
	server := sshdtest.Start(t)
	text, err := os.ReadFile(server.KeyFile)
	if err != nil {
		t.Fatal(err)
	}
	line := bytes.Split(text, []byte("\n"))[2]
	began := filepath.Join(server.Dir(), "began")
	account := fmt.Sprintf("ssh: {host: 127.0.0.1, port: %s, user: %q, known-hosts: %q, jump: '%s@127.0.0.1:%s', key: '{env.DEPLOY_KEY}'}",
		server.Port, server.User, server.KnownHosts, server.User, server.Port)
	definition := "environment: {secrets: [DEPLOY_KEY]}\nsteps:\n  - {name: first, " + account + ", sh: 'true'}\n" + // the second one uses a shared connection
		"  - {name: second, " + account + ", sh: 'touch " + began + "; sleep 600'}\n"
	for range 5 {
		temp := t.TempDir()
		c := exec.Command(os.Args[0], "-test.run", "TestSSHKeyAfterKill$")
		c.Env = append(os.Environ(), variable+"="+definition, "TMPDIR="+temp, "DEPLOY_KEY="+string(text))
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		waitFor(t, began)
		found := filesWith(t, temp, line)
		if err := c.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = c.Wait()
		if found = append(found, filesWith(t, temp, line)...); len(found) > 0 {
			t.Errorf("the key is in %q", found)
		}
		os.Remove(began)
	}
}

// filesWith returns the files below a folder that contain a text.
func filesWith(t *testing.T, dir string, text []byte) (list []string) {
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil // a file that was removed
		}
		if content, err := os.ReadFile(path); err == nil && bytes.Contains(content, text) {
			list = append(list, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}
