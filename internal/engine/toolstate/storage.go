package toolstate

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"github.com/flowrun/flowrun/internal/os/atomicfile"
	"github.com/flowrun/flowrun/internal/os/ownership"
)

// storageLimit is the maximum size of the storage of one tool, in bytes of JSON.
const storageLimit = 10_000_000

// Storage keeps the values of api.storage of a tool from one run to the next: values by key, in one JSON file. Each
// method reads the file again, so concurrent runs, also in other processes, see each other's changes.
type Storage struct{ File string } // "" if the engine keeps no state

func (s *Storage) read() (map[string]json.RawMessage, error) {
	if s.File == "" {
		return nil, errNoStorage
	}
	text, err := ownership.ReadFile(s.File)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return parseStorage(s.File, text)
}

var errNoStorage = errors.New("cannot store values: this program has no folder for them (flowrun.Config.ToolDir)")

func parseStorage(file string, text []byte) (map[string]json.RawMessage, error) {
	values := map[string]json.RawMessage{}
	if len(text) == 0 {
		return values, nil
	}
	if err := json.Unmarshal(text, &values); err != nil {
		return nil, fmt.Errorf("cannot read the storage %s: %w; fix the file or remove it", file, err)
	}
	return values, nil
}

// Get returns the value of a key, nil if there is none.
func (s *Storage) Get(key string) (any, error) {
	values, err := s.read()
	if err != nil || values[key] == nil {
		return nil, err
	}
	return values[key], nil
}

// Keys returns all keys, sorted.
func (s *Storage) Keys() ([]string, error) {
	values, err := s.read()
	return slices.AppendSeq([]string{}, slices.Values(slices.Sorted(maps.Keys(values)))), err
}

// Set stores a value under a key.
func (s *Storage) Set(key string, value json.RawMessage) error {
	return s.update(func(values map[string]json.RawMessage) { values[key] = value })
}

// Remove removes a key and reports whether it was there.
func (s *Storage) Remove(key string) (existed bool, err error) {
	err = s.update(func(values map[string]json.RawMessage) {
		_, existed = values[key]
		delete(values, key)
	})
	return existed, err
}

// Clear removes all keys.
func (s *Storage) Clear() error {
	return s.update(func(values map[string]json.RawMessage) { clear(values) })
}

func (s *Storage) update(change func(map[string]json.RawMessage)) error {
	if s.File == "" {
		return errNoStorage
	}
	if err := ownership.CheckFile(s.File); err != nil {
		return err
	}
	return atomicfile.Update(s.File, func(was []byte) ([]byte, error) {
		values, err := parseStorage(s.File, was)
		if err != nil {
			return nil, err
		}
		change(values)
		text, err := json.Marshal(values)
		if err == nil && len(text) > storageLimit {
			err = fmt.Errorf("the storage of a tool is limited to %d bytes; remove values that are no longer needed", storageLimit)
		}
		return text, err
	})
}
