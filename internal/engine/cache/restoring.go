package cache

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/lang/rawtext"
	"github.com/flowrun/flowrun/internal/os/ownership"
	"github.com/flowrun/flowrun/internal/os/procid"
)

// restoring is a note, written beside the cached results, that a process is restoring outputs. If that process is
// killed, the note says which files it may have left in the user's folder.
type restoring struct {
	Maker   procid.Identity `json:"maker"`
	Dir     string          `json:"dir"`     // hash of the step's directory
	Temp    string          `json:"temp"`    // name of the temporary files
	Folders []string        `json:"folders"` // folders that may contain one, relative to the directory, encoded
}

// tempRestoring begins the name of a note.
const tempRestoring = ".restoring-"

// note writes the note of a restore that is about to begin; done removes it. If the note cannot be written, the
// outputs are restored nevertheless.
func (e *Entry) note(dir string, present []bool) (temp string, done func()) {
	name := rand.Text()
	n := restoring{Maker: procid.Self(), Dir: e.store.Sum(dir), Temp: tempPrefix + name}
	for i := range e.Outputs {
		if in := path.Dir(e.Outputs[i].Path); !present[i] && !slices.Contains(n.Folders, rawtext.Encode(in)) {
			n.Folders = append(n.Folders, rawtext.Encode(in))
		}
	}
	file := filepath.Join(filepath.Dir(e.dir), tempRestoring+name)
	if text, err := json.Marshal(n); err == nil {
		_ = os.WriteFile(file, text, 0o600)
	}
	return n.Temp, func() { os.Remove(file) }
}

// cleanUpRestore removes what a killed process has left in the directory. It does nothing if that process may be
// alive. For a process that worked in another directory, the note is kept until the step runs there.
func (st *Step) cleanUpRestore(file, dir string, old bool) {
	text, err := ownership.ReadFile(file)
	if err != nil {
		return
	}
	var n restoring
	if err := json.Unmarshal(text, &n); err != nil || !strings.HasPrefix(n.Temp, tempPrefix) || path.Base(n.Temp) != n.Temp {
		if old { // the process was killed while it wrote the note, before anything else
			os.Remove(file)
		}
		return
	}
	switch n.Maker.State() {
	case procid.Alive:
		return
	case procid.Unknown:
		if !old {
			return
		}
	}
	if n.Dir == st.store.Sum(dir) && n.clear(dir) {
		os.Remove(file)
	}
}

// clear removes the temporary files and reports whether none is left.
func (n *restoring) clear(dir string) bool {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	defer root.Close()
	clean := true
	for _, in := range n.Folders {
		err := root.Remove(path.Join(rawtext.Decode(in), n.Temp))
		clean = clean && (err == nil || errors.Is(err, fs.ErrNotExist))
	}
	return clean
}
