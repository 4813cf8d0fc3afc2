package permtrace

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/flowrun/flowrun/internal/os/atomicfile"
	"github.com/flowrun/flowrun/internal/os/ownership"
)

// Record is a Report as it is kept in the folder of its run.
type Record struct {
	Run     string   `json:"run"`
	File    string   `json:"file"`    // of the definition
	Granted []string `json:"granted"` // entries of the definition
	Report
}

const recordName = "permissions.json"

// Save writes the record into the folder of the run.
func (r *Record) Save(dir string) error {
	text, err := json.Marshal(r)
	if err = errors.Join(err, os.MkdirAll(dir, 0o700)); err == nil {
		err = atomicfile.File{Path: filepath.Join(dir, recordName), Mode: 0o600}.WriteText(text)
	}
	if err != nil {
		return fmt.Errorf("cannot keep the permissions that the run needs: %w", err)
	}
	return nil
}

// Records returns the records of all runs of a definition in a state folder, newest first. It skips those that cannot
// be read: they are only hints.
func Records(stateDir, file string) (list []Record) {
	paths, _ := filepath.Glob(filepath.Join(stateDir, "runs", "*", recordName))
	for _, path := range slices.Backward(paths) { // names are ids, which sort by time
		var r Record
		text, err := ownership.ReadFile(path)
		if err == nil && json.Unmarshal(text, &r) == nil && r.File == file {
			list = append(list, r)
		}
	}
	return list
}

// NeverUsed returns the entries that no run used, each with the number of runs that had it.
func NeverUsed(records []Record) map[string]int {
	had, used := map[string]int{}, map[string]bool{}
	for _, r := range records {
		for _, entry := range r.Granted {
			had[entry]++
			used[entry] = used[entry] || !slices.Contains(r.Unused, entry)
		}
	}
	maps.DeleteFunc(had, func(entry string, _ int) bool { return used[entry] })
	return had
}
