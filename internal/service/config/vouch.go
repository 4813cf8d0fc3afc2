package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/flowrun/flowrun/internal/os/atomicfile"
	"github.com/flowrun/flowrun/internal/os/ownership"
)

// Vouching is the stored decision to use a folder's .flowrun and .cycod although they
// belong to another user, or others may write them.
type Vouching struct {
	Folder string    `json:"folder"`
	UID    int       `json:"uid"` // of the other user
	At     time.Time `json:"at"`
}

func vouchingFile(stateDir, folder string) string {
	return strings.TrimSuffix(decisionFile(stateDir, folder), ".json") + ".owner"
}

// Vouch stores the decision to use the files that a user put into a folder.
func Vouch(stateDir, folder string, uid int) error {
	real, err := filepath.EvalSymlinks(folder)
	if err != nil {
		return fmt.Errorf("cannot trust %s: %w", folder, err)
	}
	b, err := json.Marshal(Vouching{real, uid, time.Now().UTC().Truncate(time.Second)})
	if err != nil {
		return err
	}
	if err := atomicfile.Save(vouchingFile(stateDir, folder), append(b, '\n')); err != nil {
		return fmt.Errorf("cannot save the trust decision for %s: %w", folder, err)
	}
	return nil
}

// Vouched reports whether the files that a user put into a folder may be used. This
// includes files of the current user and of root in that folder that others may write.
func Vouched(stateDir, folder string, uid int) bool {
	if stateDir == "" {
		return false
	}
	b, err := ownership.ReadFile(vouchingFile(stateDir, folder))
	var v Vouching
	if err != nil || json.Unmarshal(b, &v) != nil {
		return false
	}
	return uid == v.UID || uid == os.Geteuid() || uid == 0
}

// forgetOwner undoes Vouch.
func forgetOwner(stateDir, folder string) (bool, error) {
	err := os.Remove(vouchingFile(stateDir, folder))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}
