package users

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"runtime"
	"time"

	"github.com/flowrun/flowrun/internal/os/atomicfile"
	"github.com/flowrun/flowrun/internal/os/ownership"
)

// keptSession is a session in the file of a state directory, without anything that lets somebody take it over.
type keptSession struct {
	Secret string    `json:"secret_sha256"`
	Token  string    `json:"token_sha256,omitempty"` // "" for a sign-in link
	Since  time.Time `json:"started"`
	Used   time.Time `json:"used"`
}

type keptSessions struct {
	Sessions []keptSession `json:"sessions"`
}

// saveInterval is how old the time of the last use in the file may be.
const saveInterval = 10 * time.Minute

// OpenSessions returns the sessions that a service of the state directory has left, and keeps them and new ones there, so
// that nobody has to sign in again after a restart. report is called if the file cannot be used: then the sessions are in
// memory only.
func OpenSessions(stateDir string, report func(error)) *Sessions {
	s := NewSessions()
	path := filepath.Join(stateDir, "sessions.json")
	list, err := readSessions(path)
	if err != nil {
		report(fmt.Errorf("cannot keep the sessions of browsers in %s: %w", path, err))
		return s
	}
	s.path, s.report = path, report
	for _, k := range list {
		secret, ok := credentialOf(k.Secret)
		token, known := credentialOf(k.Token)
		if !ok || !known && k.Token != "" || s.expired(k) {
			continue
		}
		s.open[secret] = s.session(token, k.Since, k.Used)
	}
	return s
}

// readSessions reads the file, which nobody else may read or change.
func readSessions(path string) ([]keptSession, error) {
	text, err := readPrivate(path)
	if err != nil || text == nil {
		return nil, err
	}
	var all keptSessions
	err = json.Unmarshal(text, &all)
	return all.Sessions, err
}

// readPrivate reads a file, nil if there is none. It returns an error if another user of the machine can read or change the
// file.
func readPrivate(path string) ([]byte, error) {
	f, err := ownership.OpenFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := private(f, path); err != nil {
		return nil, err
	}
	return io.ReadAll(f)
}

// private returns an error if another user of the machine can read or change a file.
func private(f fs.File, path string) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if mode := info.Mode().Perm(); runtime.GOOS != "windows" && mode&0o077 != 0 {
		return fmt.Errorf("the mode of %s is %04o, so others could read or change it: chmod 600 %[1]s", path, mode)
	}
	if why := ownership.OtherOwner(info); why != "" {
		return fmt.Errorf("cannot use %s: %s, who could change it", path, why)
	}
	return nil
}

func credentialOf(text string) (c Credential, ok bool) {
	b, err := hex.DecodeString(text)
	return c, err == nil && copy(c[:], b) == len(c)
}

func (s *Sessions) expired(k keptSession) bool {
	now := s.now()
	return now.Sub(k.Used) >= maxIdle || now.Sub(k.Since) >= maxAge
}

// session makes a session that began at a time.
func (s *Sessions) session(c Credential, started, used time.Time) *Session {
	n := &Session{Credential: c, started: started, used: used}
	n.Context, n.end = context.WithTimeout(context.Background(), maxAge-s.now().Sub(started))
	return n
}

// save writes the sessions to the file, beside those of another service of the same state directory. s.mu must be held.
func (s *Sessions) save() {
	s.saved = s.now()
	if s.path == "" {
		clear(s.ended)
		return
	}
	err := atomicfile.Update(s.path, func(was []byte) ([]byte, error) {
		var all keptSessions
		if was != nil {
			_ = json.Unmarshal(was, &all) // what is not a list of sessions is replaced
		}
		var list []keptSession
		for _, k := range all.Sessions {
			secret, ok := credentialOf(k.Secret)
			if ok && s.open[secret] == nil && !s.ended[secret] && !s.expired(k) {
				list = append(list, k)
			}
		}
		for secret, o := range s.open {
			k := keptSession{Secret: hashOf(secret), Since: o.started, Used: o.used}
			if o.Credential != (Credential{}) {
				k.Token = hashOf(o.Credential)
			}
			list = append(list, k)
		}
		return json.Marshal(keptSessions{list})
	})
	if err != nil && !s.failing {
		s.report(fmt.Errorf("cannot keep the sessions of browsers: %w", err))
	}
	if s.failing = err != nil; !s.failing {
		clear(s.ended)
	}
}
