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
	"github.com/flowrun/flowrun/internal/os/atomicfile"
	"github.com/flowrun/flowrun/internal/os/ownership"
)

// State is the decision of a person about a project.
type State string

// The states. Changed means that there is a decision, but settings that need trust were added or
// changed since.
const (
	Undecided State = ""
	Trusted   State = "trusted"
	Declined  State = "declined"
	Changed   State = "changed"
)

// Trust describes whether the user trusts a project.
type Trust struct {
	Folder string // of the project; "" if there is none
	State  State
	// Needed are the project's settings that need trust. If there are none, no decision is
	// needed.
	Needed []Value

	digests map[string]string // of the needed settings, see digests
	options Options           // with which the settings were read
}

// Covers reports whether the user trusts the project in a folder: the project of these
// settings, or another one whose tools are found from here.
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

// ProjectOf returns the folder of the project that contains a folder, "" if the user does not trust it now. Like Pins,
// it reads the decision again.
func (t Trust) ProjectOf(folder string) string {
	o := t.options
	o.WorkingDirectory = folder
	if c, err := Load(o); err == nil && c.Trust.State == Trusted {
		return c.Trust.Folder
	}
	return ""
}

// trust looks up the decision about the project, and marks the values that are ignored.
func (l *loader) trust() {
	t := &l.c.Trust
	t.options = l.Options
	needs := make([]bool, len(l.values))
	for i, v := range l.values {
		l.values[i].Ignored = l.weakensEnforcement(v)
		if needs[i] = v.Origin.Layer == Project && (needsTrust(v.Key) || l.widens(v)); needs[i] {
			t.Needed = append(t.Needed, v)
		}
	}
	if t.Folder == "" {
		return
	}
	t.digests = digests(t.Needed)
	switch r, err := loadDecision(l.StateDir, t.Folder); {
	case l.TrustProject:
		t.State = Trusted
	case err != nil: // no decision, or it is unreadable: the project is undecided
	case !r.covers(t.digests):
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
		l.values[i].Ignored = l.values[i].Ignored || needs[i]
	}
}

// widens reports whether a project's setting raises a limit above the value of the user,
// the machine or the program. Lowering a limit needs no trust. A limit of 0 means no limit.
func (l *loader) widens(v Value) bool {
	if !isLimit(v.Key) {
		return false
	}
	var own any = int64(dag.DefaultParallel()) // for limits.max-parallel, which has no default in the table
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

// Ignored returns the keys of the project that do not apply, each once, a server as one
// key.
func (t Trust) Ignored() (keys []string) {
	if t.State == Trusted {
		return nil
	}
	return t.keys()
}

func (t Trust) keys() (keys []string) {
	for _, v := range t.Needed {
		if key := v.overrideKey(); !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return keys
}

// digests returns a checksum for each section of settings, such as "history". A section is trusted
// as a whole: without one of its keys, the others may allow more.
func digests(list []Value) map[string]string {
	written := map[string][][]string{}
	for _, v := range list {
		section, _, _ := strings.Cut(v.Key, ".")
		written[section] = append(written[section], []string{filepath.Base(v.Origin.Pos.File), v.Key, v.Text()})
	}
	sums := make(map[string]string, len(written))
	for section, values := range written {
		b, _ := json.Marshal(values) // lists of strings can always be written
		sum := sha256.Sum256(b)
		sums[section] = hex.EncodeToString(sum[:])
	}
	return sums
}

// Record is a stored decision.
type Record struct {
	Folder  string            `json:"folder"`
	Digests map[string]string `json:"digests"` // of the settings at that time, see digests
	// Definitions are the digests of the definitions at that time, see digestsOf.
	Definitions map[string]string `json:"definitions,omitempty"`
	Trusted     bool              `json:"trusted"`
	At          time.Time         `json:"at"`
	Vouched     bool              `json:"-"` // made by Vouch
}

// covers reports whether the decision is about all of these settings. Some may have been removed
// since.
func (r Record) covers(now map[string]string) bool {
	for section, sum := range now {
		if r.Digests[section] != sum {
			return false
		}
	}
	return true
}

// decisionFile returns the file of one project's decision. Each project has its own file, so that
// two commands never write the same one. A link to a project counts as the project.
func decisionFile(stateDir, folder string) string {
	if real, err := filepath.EvalSymlinks(folder); err == nil {
		folder = real
	}
	sum := sha256.Sum256([]byte(folder))
	return filepath.Join(stateDir, "trust", hex.EncodeToString(sum[:16])+".json")
}

func loadDecision(stateDir, folder string) (r Record, err error) {
	if stateDir == "" {
		return r, fs.ErrNotExist
	}
	b, err := ownership.ReadFile(decisionFile(stateDir, folder))
	if err != nil {
		return r, err
	}
	return r, json.Unmarshal(b, &r)
}

// Decide stores a person's decision about the project's settings as they were loaded.
func (c *Config) Decide(stateDir string, trusted bool) error {
	t := &c.Trust
	folder, err := filepath.EvalSymlinks(t.Folder)
	if err != nil {
		return fmt.Errorf("cannot trust %s: %w", t.Folder, err)
	}
	r := Record{Folder: folder, Digests: t.digests, Trusted: trusted, At: time.Now().UTC().Truncate(time.Second)}
	if trusted {
		texts, err := definitionTexts(folder)
		if err == nil {
			err = keepTexts(stateDir, t.Folder, texts)
		}
		if err != nil {
			return fmt.Errorf("cannot trust %s: %w", t.Folder, err)
		}
		r.Definitions = digestsOf(texts)
	} else if err := forgetTexts(stateDir, t.Folder); err != nil {
		return fmt.Errorf("cannot forget the tools of %s: %w", t.Folder, err)
	}
	b, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if err := atomicfile.Save(decisionFile(stateDir, t.Folder), append(b, '\n')); err != nil {
		return fmt.Errorf("cannot save the trust decision for %s: %w", t.Folder, err)
	}
	if t.State = Declined; trusted {
		t.State = Trusted
		for i := range c.Values {
			c.Values[i].Ignored = false
		}
		c.Values = effective(c.Values)
	}
	return nil
}

// Records returns the stored decisions, sorted by folder.
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
		b, bad := ownership.ReadFile(filepath.Join(dir, e.Name()))
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

// Forget removes a decision. It reports whether there was one.
func Forget(stateDir, folder string) (bool, error) {
	owner, err := forgetOwner(stateDir, folder)
	if err := errors.Join(err, forgetTexts(stateDir, folder)); err != nil {
		return false, err
	}
	err = os.Remove(decisionFile(stateDir, folder))
	if errors.Is(err, fs.ErrNotExist) {
		return owner, nil
	}
	return err == nil, err
}
