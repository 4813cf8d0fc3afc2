package config

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/atomicfile"
)

// State is what a person has said about a project.
type State string

// The states. Changed: it was trusted (or not), and what needs trust is different now.
const (
	Undecided State = ""
	Trusted   State = "trusted"
	Declined  State = "declined"
	Changed   State = "changed"
)

// Trust is how things stand between the user and a project.
type Trust struct {
	Folder string // of the project; "" where there is none
	State  State
	// Needed are the project's settings that need trust; none: there is nothing to ask.
	Needed []Value

	digest  string
	options Options // that the settings were read with
}

// Covers reports whether the user trusts the project in a folder: the one that the
// settings are of, or another one whose tools are found from here.
func (t Trust) Covers(project string) bool {
	if t.options.TrustProject {
		return true
	}
	if t.Folder == project {
		return t.State == Trusted
	}
	o := t.options
	o.WorkingDirectory = project
	other, err := Load(o)
	return err == nil && other.Trust.Folder == project && other.Trust.State == Trusted
}

// trust looks up what was said of the project, and marks what is ignored.
func (l *loader) trust() {
	t := &l.c.Trust
	t.options = l.Options
	needs := make([]bool, len(l.values))
	for i, v := range l.values {
		if needs[i] = v.Origin.Layer == Project && (gated(v.Key) || l.widens(v)); needs[i] {
			t.Needed = append(t.Needed, v)
		}
	}
	if t.Folder == "" {
		return
	}
	t.digest = digest(t.Needed)
	switch r, err := recall(l.StateDir, t.Folder); {
	case l.TrustProject:
		t.State = Trusted
	case err != nil: // none, or unreadable: as if nobody had said anything
	case r.Digest != t.digest:
		t.State = Changed
	case r.Trusted:
		t.State = Trusted
	default:
		t.State = Declined
	}
	if t.State == Trusted {
		return
	}
	for i := range l.values {
		l.values[i].Ignored = needs[i]
	}
}

// widens reports whether a project's setting raises a bound above what the user, the
// machine or the program set; to lower one takes no trust. A bound of 0 is none.
func (l *loader) widens(v Value) bool {
	if !bounds(v.Key) {
		return false
	}
	var own any = int64(dag.DefaultParallel()) // of limits.max-parallel, which has no default in the table
	for _, other := range l.values {           // the weakest first
		if other.Key == v.Key && other.Origin.Layer != Project {
			own = other.Value
		}
	}
	amount := func(v any) int64 {
		if d, ok := v.(time.Duration); ok {
			return int64(d)
		}
		n, _ := v.(int64)
		return n
	}
	return amount(v.Value) <= 0 || amount(v.Value) > amount(own)
}

// Ignored are the keys of the project that are not in force, each once, a server as one.
func (t Trust) Ignored() (keys []string) {
	if t.State == Trusted {
		return nil
	}
	return t.keys()
}

func (t Trust) keys() (keys []string) {
	for _, v := range t.Needed {
		if key := v.owner(); !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return keys
}

// digest is of the settings alone: what else a file holds may change.
func digest(list []Value) string {
	h := sha256.New()
	enc := json.NewEncoder(h)
	for _, v := range list {
		enc.Encode([]any{filepath.Base(v.Origin.Pos.File), v.Key, v.Text()}) // writes to a hash do not fail
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Record is what is kept of a decision.
type Record struct {
	Folder  string    `json:"folder"`
	Digest  string    `json:"digest"`
	Trusted bool      `json:"trusted"`
	At      time.Time `json:"at"`
	Vouched bool      `json:"-"` // it is a Vouching
}

// record is the file of one project: one for each, so that two commands never write the
// same one. A project that is reached through a link is the one it leads to.
func record(stateDir, folder string) string {
	if real, err := filepath.EvalSymlinks(folder); err == nil {
		folder = real
	}
	sum := sha256.Sum256([]byte(folder))
	return filepath.Join(stateDir, "trust", hex.EncodeToString(sum[:16])+".json")
}

func recall(stateDir, folder string) (r Record, err error) {
	if stateDir == "" {
		return r, fs.ErrNotExist
	}
	b, err := read(record(stateDir, folder))
	if err != nil {
		return r, err
	}
	return r, json.Unmarshal(b, &r)
}

// Decide keeps what a person says about the project's settings as they were loaded.
func (c *Config) Decide(stateDir string, trusted bool) error {
	t := &c.Trust
	folder, err := filepath.EvalSymlinks(t.Folder)
	if err != nil {
		return fmt.Errorf("cannot trust %s: %w", t.Folder, err)
	}
	b, err := json.Marshal(Record{Folder: folder, Digest: t.digest, Trusted: trusted, At: time.Now().UTC().Truncate(time.Second)})
	if err != nil {
		return err
	}
	if err := atomicfile.Save(record(stateDir, t.Folder), append(b, '\n')); err != nil {
		return fmt.Errorf("cannot save the trust decision for %s: %w", t.Folder, err)
	}
	if t.State = Declined; trusted {
		t.State = Trusted
		for i := range c.Values {
			c.Values[i].Ignored = false
		}
		c.Values = layered(c.Values)
	}
	return nil
}

// Records are the decisions that are kept, by folder.
func Records(stateDir string) (list []Record, err error) {
	dir := filepath.Join(stateDir, "trust")
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		ext := filepath.Ext(e.Name())
		if ext != ".json" && ext != ".owner" {
			continue
		}
		r := Record{Vouched: ext == ".owner"}
		b, bad := read(filepath.Join(dir, e.Name()))
		if bad == nil {
			bad = json.Unmarshal(b, &r)
		}
		if bad != nil {
			err = errors.Join(err, fmt.Errorf("cannot read %s: %w; remove it", filepath.Join(dir, e.Name()), bad))
			continue
		}
		list = append(list, r)
	}
	slices.SortFunc(list, func(x, y Record) int { return strings.Compare(x.Folder, y.Folder) })
	return list, err
}

// Forget takes a decision back. It says whether there was one.
func Forget(stateDir, folder string) (bool, error) {
	owner, err := forgetOwner(stateDir, folder)
	if err != nil {
		return false, err
	}
	err = os.Remove(record(stateDir, folder))
	if errors.Is(err, fs.ErrNotExist) {
		return owner, nil
	}
	return err == nil, err
}
