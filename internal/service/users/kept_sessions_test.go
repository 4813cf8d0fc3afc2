package users

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestKeptSessions: sessions outlast a restart of the service, and the file has nothing with which somebody could take
// one over.
func TestKeptSessions(t *testing.T) {
	dir := t.TempDir()
	opened := func() *Sessions { return OpenSessions(dir, func(err error) { t.Error(err) }) }
	s := opened()
	mine, over := s.Start(Credential{1}), s.Start(Credential{1})
	owner, _ := s.Redeem(s.Link())
	beside := opened() // another service of the same state directory
	theirs := beside.Start(Credential{2})
	s.End(over)
	text, err := os.ReadFile(filepath.Join(dir, "sessions.json"))
	if err != nil || strings.Contains(string(text), mine) || strings.Contains(string(text), owner) {
		t.Errorf("%s %v", text, err)
	}
	s = opened()
	if found := s.Find(mine); found == nil || found.Credential != (Credential{1}) || found.Context.Err() != nil {
		t.Errorf("%+v", found)
	}
	if s.Find(owner) == nil || s.Find(theirs) == nil || s.Find(over) != nil || s.Find("x") != nil {
		t.Errorf("%v %v %v", s.Find(owner), s.Find(theirs), s.Find(over))
	}
}

// TestUnusableSessions: a file that others can change, or that is none, gives no sessions, and that is said.
func TestUnusableSessions(t *testing.T) {
	for text, mode := range map[string]os.FileMode{`{"sessions": []}`: 0o644, `{"sessions`: 0o600} {
		if runtime.GOOS == "windows" && mode != 0o600 {
			continue
		}
		dir, reports := t.TempDir(), 0
		path := filepath.Join(dir, "sessions.json")
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		s := OpenSessions(dir, func(error) { reports++ })
		if secret := s.Start(Credential{1}); s.Find(secret) == nil || reports != 1 {
			t.Errorf("%s: %d reports", text, reports)
		}
		if now, err := os.ReadFile(path); err != nil || string(now) != text {
			t.Errorf("the file is changed: %s %v", now, err)
		}
	}
}
