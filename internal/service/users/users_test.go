package users_test

import (
	"crypto/sha256"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/internal/service/users"
)

// A user is found by the token and by the name until the user is removed, also by a Registry that
// was made before.
func TestUsers(t *testing.T) {
	dir := t.TempDir()
	registry := users.NewRegistry(dir, func(err error) { t.Error(err) })
	if _, ok := registry.ByName("anna"); ok {
		t.Error("a user before there are any")
	}
	token, err := users.Add(dir, "anna", users.Operator)
	if err != nil || len(token) < 26 {
		t.Fatalf("%q %v", token, err)
	}
	other, err := users.Add(dir, "Ben@example.com", users.Viewer)
	if err != nil || other == token {
		t.Fatal(other, err)
	}
	if u, ok := registry.ByToken(sha256.Sum256([]byte(token))); !ok || u.Name != "anna" || u.Role != users.Operator {
		t.Errorf("%+v %v", u, ok)
	}
	if u, ok := registry.ByName("Ben@example.com"); !ok || u.Role != users.Viewer {
		t.Errorf("%+v %v", u, ok)
	}
	if _, ok := registry.ByToken(sha256.Sum256([]byte("another"))); ok {
		t.Error("a token of nobody")
	}
	text, err := os.ReadFile(users.Path(dir))
	if err != nil || strings.Contains(string(text), token) {
		t.Errorf("the file has the token: %s %v", text, err)
	}
	if info, _ := os.Stat(users.Path(dir)); info.Mode().Perm() != 0o600 {
		t.Errorf("the mode is %v", info.Mode())
	}
	if _, err := users.Add(dir, "anna", users.Admin); !errors.Is(err, users.ErrExists) {
		t.Error(err)
	}
	if err := users.Remove(dir, "anna"); err != nil {
		t.Error(err)
	}
	if err := users.Remove(dir, "anna"); !errors.Is(err, users.ErrNoUser) {
		t.Error(err)
	}
	if _, ok := registry.ByToken(sha256.Sum256([]byte(token))); ok {
		t.Error("a removed user is found")
	}
	if list, err := users.List(dir); err != nil || len(list) != 1 {
		t.Error(list, err)
	}
}

func TestNames(t *testing.T) {
	for _, name := range []string{"", "-x", "a b", "a\nb", "<b>", strings.Repeat("x", 65), "é"} {
		if _, err := users.Add(t.TempDir(), name, users.Viewer); !errors.Is(err, users.ErrName) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// A file that others can read, or that is damaged, has no users.
func TestUnusableFile(t *testing.T) {
	dir := t.TempDir()
	token, err := users.Add(dir, "anna", users.Admin)
	if err != nil {
		t.Fatal(err)
	}
	reports := 0
	for n, spoil := range []func() error{
		func() error { return os.Chmod(users.Path(dir), 0o644) },
		func() error {
			return errors.Join(os.WriteFile(users.Path(dir), []byte("{"), 0o600), os.Chmod(users.Path(dir), 0o600))
		},
		func() error { return os.Chown(users.Path(dir), 65534, -1) },
	} {
		if n == 2 && os.Getuid() != 0 {
			break // only root can give a file away
		}
		if err := spoil(); err != nil {
			t.Fatal(err)
		}
		registry := users.NewRegistry(dir, func(error) { reports++ })
		if _, ok := registry.ByToken(sha256.Sum256([]byte(token))); ok || reports != n+1 {
			t.Errorf("%d: %v, %d reports", n, ok, reports)
		}
	}
}

func TestRoles(t *testing.T) {
	for _, c := range []struct {
		has, needs users.Role
		ok         bool
	}{
		{users.Admin, users.Viewer, true}, {users.Operator, users.Operator, true}, {users.Viewer, users.Viewer, true},
		{users.Viewer, users.Operator, false}, {users.Operator, users.Admin, false}, {"", users.Viewer, false}, {"owner", users.Viewer, false},
	} {
		if c.has.Includes(c.needs) != c.ok {
			t.Errorf("%s includes %s: %v", c.has, c.needs, !c.ok)
		}
	}
}

// What belongs to a user ends when the user is removed, or has another role or token, and not when
// others are.
func TestLife(t *testing.T) {
	for name, c := range map[string]struct {
		change func(dir string) error
		ends   bool
	}{
		"removed":       {func(dir string) error { return users.Remove(dir, "anna") }, true},
		"another role":  {func(dir string) error { return readd(dir, users.Viewer) }, true},
		"another token": {func(dir string) error { return readd(dir, users.Operator) }, true},
		"unreadable":    {func(dir string) error { return os.Chmod(users.Path(dir), 0o644) }, true},
		"no file":       {func(dir string) error { return os.Remove(users.Path(dir)) }, true},
		"another user":  {func(dir string) error { _, err := users.Add(dir, "ben", users.Viewer); return err }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if _, err := users.Add(dir, "anna", users.Operator); err != nil {
				t.Fatal(err)
			}
			r := users.NewRegistry(dir, func(error) {})
			anna, _ := r.ByName("anna")
			life := r.Life(anna)
			if life != r.Life(anna) || life.Err() != nil {
				t.Fatal("not one life")
			}
			if err := c.change(dir); err != nil {
				t.Fatal(err)
			}
			select {
			case <-life.Done():
			case <-time.After(map[bool]time.Duration{true: 10 * time.Second, false: 1200 * time.Millisecond}[c.ends]):
			}
			if (life.Err() != nil) != c.ends {
				t.Errorf("ended: %v", !c.ends)
			}
			if c.ends && r.Life(anna).Err() == nil {
				t.Error("somebody who is gone has a life")
			}
		})
	}
}

func readd(dir string, role users.Role) error {
	err := users.Remove(dir, "anna")
	if err == nil {
		_, err = users.Add(dir, "anna", role)
	}
	return err
}
