package library

import (
	"fmt"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// Snapshot returns a Library that finds only the given sources and reads no files. Definitions made in Go, providers
// and loaders are those of l.
func (l *Library) Snapshot(sources []tool.Source) *Library {
	s := &Library{formats: l.formats, reader: newReader(l.formats), maxSteps: l.maxSteps, live: l.Live(), snapshot: make(map[lookupKey]tool.Source, len(sources))}
	s.finder = &finder{reader: s.reader, indexes: newIndexes("")}
	s.goTools.list, s.providers.list = l.goTools.all(), l.providers.all()
	s.explainMissing.Store(l.explainMissing.Load())
	for _, src := range sources {
		s.snapshot[lookupKey{src.From, src.Name}] = src
	}
	return s
}

// Closed returns a Library that reads no files and finds only tools, by their names: for definitions of others. maxSteps is
// Config.MaxPlanSteps. Errors are those of Add.
func Closed(maxSteps int, tools ...*tool.Definition) (*Library, error) {
	l := &Library{formats: newFormats(), maxSteps: maxSteps, snapshot: map[lookupKey]tool.Source{}, closed: true}
	l.reader = newReader(l.formats)
	l.finder = &finder{reader: l.reader, indexes: newIndexes("")}
	for _, def := range tools {
		if err := l.Add(def); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// Live returns the Library that reads files: for a Snapshot the one it was made from, otherwise l itself.
func (l *Library) Live() *Library {
	if l != nil && l.live != nil {
		return l.live
	}
	return l
}

// lookupKey is the key of one lookup: what contains the name (tool.HolderOf), and the name.
type lookupKey struct{ from, name string }

// lookupSnapshot looks up a name in a snapshot. A file that was looked up under several names is decoded once.
func (l *Library) lookupSnapshot(name string, from *tool.Definition) (*tool.Definition, tool.Diagnostics, error) {
	q := lookupKey{name: name}
	if from != nil {
		q.from = tool.HolderOf(from)
	}
	src, ok := l.snapshot[q]
	if !ok {
		if def, err := l.lookupProvided(name, from); def != nil || err != nil {
			return def, nil, err
		}
		if l.closed {
			return nil, nil, &NotFoundError{Name: name, Reason: "definitions of others can only use tools that the program names"}
		}
		return nil, nil, fmt.Errorf("cannot find the tool %s: it is not among the definitions stored with the run", diagnostic.Quote(name))
	}
	if src.Scope == tool.ScopeDiscovered {
		def, err := tool.ReadProgramTool(src.Text)
		return def, nil, err
	}
	c, known := l.reader.cached(src.File, src.Scope)
	if !known {
		c.def, c.found = l.formats.decode(src.File, src.Scope, src.Text)
		l.reader.keep(src.File, src.Scope, c)
	}
	return c.def, c.found, nil
}
