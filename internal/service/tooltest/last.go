package tooltest

import (
	"encoding/json"
	"errors"
	"maps"
	"path/filepath"
	"time"

	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/os/atomicfile"
	"github.com/flowrun/flowrun/internal/os/ownership"
)

// Last is the last result of a test.
type Last struct {
	Status   Status    `json:"status"` // passed or failed
	At       time.Time `json:"at"`
	Duration int64     `json:"duration_ms"`
	Digest   string    `json:"digest"` // of the definition that was tested, see tool.DigestOf
}

// Remember stores the results of tests in the state directory, one file for each definition.
// Tests that did not run keep their last result.
func Remember(stateDir string, list []Outcome, now time.Time) error {
	byFile := map[string]map[string]Last{}
	for _, o := range list {
		def := o.Plan.Definition
		if def.File == "" || o.Status != Passed && o.Status != Failed {
			continue
		}
		if byFile[def.File] == nil {
			byFile[def.File] = map[string]Last{}
		}
		byFile[def.File][o.Test.Name] = Last{o.Status, now.UTC(), o.Duration.Milliseconds(), tool.DigestOf(def.Source)}
	}
	var failed error
	for file, results := range byFile {
		all := LastResults(stateDir, file)
		maps.Copy(all, results)
		text, err := json.Marshal(all)
		if err == nil {
			err = atomicfile.Cache(lastFile(stateDir, file), text)
		}
		failed = errors.Join(failed, err)
	}
	return failed
}

// LastResults returns the last results of the tests in a definition, by name. A result that cannot
// be read counts as none.
func LastResults(stateDir, file string) map[string]Last {
	all := map[string]Last{}
	if text, err := ownership.ReadFile(lastFile(stateDir, file)); err != nil || json.Unmarshal(text, &all) != nil {
		return map[string]Last{}
	}
	return all
}

// lastFile returns the path of the file with the results of a definition.
func lastFile(stateDir, definition string) string {
	if abs, err := filepath.Abs(definition); err == nil {
		definition = abs
	}
	return filepath.Join(stateDir, "tests", tool.DigestOf([]byte(definition))[len("sha256:"):][:32]+".json")
}
