package engine

import (
	"cmp"
	"os"
	"slices"

	"github.com/flowrun/flowrun/internal/engine/compile"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/library"
)

// ChangedFiles returns the files of definitions of the run whose text is another one than when the run began. A file that
// is gone is not among them.
func (p *RecordedRun) ChangedFiles(lib *library.Library) []string {
	return changedFiles(p.Record.Sources, lib)
}

// ChangedFiles returns the files of definitions of the plan whose text is another one now. A file that is gone is not
// among them.
func (p *Plan) ChangedFiles(lib *library.Library) []string {
	return changedFiles(p.compiled.Sources, lib)
}

func changedFiles(sources []tool.Source, lib *library.Library) (changed []string) {
	for i := range sources {
		s := &sources[i]
		if s.File == "" || s.Scope == tool.ScopeDiscovered || slices.Contains(changed, s.File) {
			continue
		}
		if text, err := textNow(s, lib); err == nil && tool.DigestOf(text) != wholeDigest(s) {
			changed = append(changed, s.File)
		}
	}
	return changed
}

// textNow returns the text that a run which starts now would store of a definition, with its secrets.
func textNow(s *tool.Source, lib *library.Library) ([]byte, error) {
	if s.Scope == tool.ScopeDiscovered {
		def, _, err := lib.Live().Lookup(s.Name, nil)
		if err != nil {
			return nil, err
		}
		return compile.HistoryText(def), nil
	}
	text, err := os.ReadFile(s.File)
	if err == nil && tool.DigestOf(text) != wholeDigest(s) {
		if def, _, _ := lib.Live().Load(s.File); def != nil {
			text = compile.HistoryText(def) // of several files
		}
	}
	return text, err
}

// wholeDigest returns the digest of the text of a definition with its secrets.
func wholeDigest(s *tool.Source) string { return cmp.Or(s.Original, s.Digest) }
