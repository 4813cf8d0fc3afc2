// Package users knows who may use a service: its users with their roles and tokens, and the sessions
// of browsers.
//
// The users are in one file of the state directory, which only its owner can read, with the hashes
// of their tokens. A token is random, has 130 bits and is shown once, so a plain hash does not help
// anyone to guess it. Another file has the sessions, so that they outlast a restart of the service.
package users

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/flowrun/flowrun/internal/os/atomicfile"
	"github.com/flowrun/flowrun/internal/os/ownership"
)

// User is a user of a service.
type User struct {
	Name  string    `json:"name"`
	Role  Role      `json:"role"`
	Hash  string    `json:"token_sha256"` // of the token, in hexadecimal digits
	Added time.Time `json:"added"`
}

// Errors of Add and Remove. They are wrapped.
var (
	ErrExists = errors.New("the user exists")
	ErrNoUser = errors.New("there is no such user")
	ErrName   = errors.New("the name is invalid")
)

// names are the names that users can have. They are shown in logs and sent in headers of proxies.
var names = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._@+-]{0,63}$`) })

// file is the content of the file.
type file struct {
	Users []User `json:"users"`
}

// Path returns the path of the file in a state directory.
func Path(stateDir string) string { return filepath.Join(stateDir, "users.json") }

// List returns the users by name. It returns an error if another user of the machine can read or
// change the file.
func List(stateDir string) ([]User, error) {
	path := Path(stateDir)
	text, err := readPrivate(path)
	if err != nil || text == nil {
		return nil, err
	}
	var all file
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", path, err)
	}
	return all.Users, nil
}

// Add adds a user and returns the user's token.
func Add(stateDir, name string, role Role) (token string, err error) {
	if !names().MatchString(name) {
		return "", fmt.Errorf("cannot add user %q: %w: use 1 to 64 letters, digits and . _ @ + -, and begin with a letter or digit", name, ErrName)
	}
	token = rand.Text()
	return token, change(stateDir, func(list []User) ([]User, error) {
		at, found := find(list, name)
		if found {
			return nil, fmt.Errorf("cannot add user %s: %w", name, ErrExists)
		}
		return slices.Insert(list, at, User{Name: name, Role: role, Hash: hashOf(sha256.Sum256([]byte(token))), Added: time.Now().UTC().Truncate(time.Second)}), nil
	})
}

// Remove removes a user. The token of the user is invalid from then on.
func Remove(stateDir, name string) error {
	return change(stateDir, func(list []User) ([]User, error) {
		at, found := find(list, name)
		if !found {
			return nil, fmt.Errorf("cannot remove user %s: %w", name, ErrNoUser)
		}
		return slices.Delete(list, at, at+1), nil
	})
}

// change changes the list of users.
func change(stateDir string, f func([]User) ([]User, error)) error {
	if err := ownership.CheckFile(Path(stateDir)); err != nil {
		return err
	}
	return atomicfile.Update(Path(stateDir), func(was []byte) ([]byte, error) {
		var all file
		if was != nil {
			if err := json.Unmarshal(was, &all); err != nil {
				return nil, fmt.Errorf("cannot read %s: %w", Path(stateDir), err)
			}
		}
		list, err := f(all.Users)
		if err != nil {
			return nil, err
		}
		text, err := json.MarshalIndent(file{list}, "", "  ")
		return append(text, '\n'), err
	})
}

// find returns the index of a user, or where one with that name is inserted.
func find(list []User, name string) (int, bool) {
	return slices.BinarySearchFunc(list, name, func(u User, name string) int { return strings.Compare(u.Name, name) })
}

func hashOf(sum [sha256.Size]byte) string { return hex.EncodeToString(sum[:]) }
