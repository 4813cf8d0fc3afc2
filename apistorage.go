package flowrun

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"

	"github.com/flowrun/flowrun/internal/atomicfile"
)

// storageLimit is how large the storage of one tool may grow, in bytes of JSON (S2-080).
const storageLimit = 10_000_000

// toolStorage is what api.storage of a tool keeps from one run to the next: values by
// keys, in one JSON file. Each method reads the file anew, so that runs at the same time,
// also of other processes, see what each other writes.
type toolStorage struct{ file string } // "" where the engine keeps no state

func (s *toolStorage) read() (map[string]json.RawMessage, error) {
	if s.file == "" {
		return nil, errNoStorage
	}
	text, err := os.ReadFile(s.file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return parseStorage(s.file, text)
}

var errNoStorage = errors.New("cannot store anything: this program keeps no state (flowrun.Config.ToolDir)")

func parseStorage(file string, text []byte) (map[string]json.RawMessage, error) {
	values := map[string]json.RawMessage{}
	if len(text) == 0 {
		return values, nil
	}
	if err := json.Unmarshal(text, &values); err != nil {
		return nil, fmt.Errorf("cannot read the storage %s: %w; mend the file, or remove it", file, err)
	}
	return values, nil
}

// get is the value of a key, null where there is none.
func (s *toolStorage) get(key string) (any, error) {
	values, err := s.read()
	if err != nil || values[key] == nil {
		return nil, err
	}
	return values[key], nil
}

// keys are all keys, sorted.
func (s *toolStorage) keys() ([]string, error) {
	values, err := s.read()
	return slices.AppendSeq([]string{}, slices.Values(slices.Sorted(maps.Keys(values)))), err
}

func (s *toolStorage) set(key string, value json.RawMessage) error {
	return s.update(func(values map[string]json.RawMessage) { values[key] = value })
}

func (s *toolStorage) remove(key string) error {
	return s.update(func(values map[string]json.RawMessage) { delete(values, key) })
}

func (s *toolStorage) clear() error {
	return s.update(func(values map[string]json.RawMessage) { clear(values) })
}

func (s *toolStorage) update(change func(map[string]json.RawMessage)) error {
	if s.file == "" {
		return errNoStorage
	}
	return atomicfile.Update(s.file, func(was []byte) ([]byte, error) {
		values, err := parseStorage(s.file, was)
		if err != nil {
			return nil, err
		}
		change(values)
		text, err := json.Marshal(values)
		if err == nil && len(text) > storageLimit {
			err = fmt.Errorf("the storage of a tool is full at %d bytes: remove what is not needed any more", storageLimit)
		}
		return text, err
	})
}
