package tool

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/flowrun/flowrun/internal/atomicfile"
)

// An index keeps what a listing says of the files of one folder from one process to
// the next, so that a thousand definitions are not read again for every list and every
// word that a shell completes. It is a memory, never the truth: what it says of a file
// counts only where the file's stamp is the very one it was read under, and had settled.
// Anything else, also an index that is damaged, of another program or not there, means
// reading the file, and nothing else follows from it.

// index is what is known of the files of one folder, by their names. It is not changed
// once it is made.
type index map[string]indexed

// indexed is a file as it was read.
type indexed struct {
	stamp stamp
	tool  Listed
}

const (
	minIndexed   = 32      // files in a folder; fewer are read as fast as an index is
	maxIndexSize = 8 << 20 // bytes
	maxIndexes   = 128     // folders; those whose index was written longest ago give way
)

// indexFormat begins every index. It goes up with what stands behind it.
const indexFormat = "flowrun index 2\n"

// program tells one build of this program from another, which may read definitions
// differently: "" where that cannot be told, and nothing is to be kept.
func program() string {
	path, err := os.Executable()
	if err != nil {
		return ""
	}
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	return path + " " + strconv.FormatInt(info.Size(), 10) + " " + strconv.FormatInt(info.ModTime().UnixNano(), 10)
}

// indexFile is where the index of a folder is kept, "" for nowhere.
func (l *Library) indexFile(dir string) string {
	if l.indexes == "" || l.program == "" {
		return ""
	}
	return filepath.Join(l.indexes, DigestOf([]byte(dir))[len("sha256:"):][:32])
}

// trusted is what is known of a file, if that may be believed.
func (ix index) trusted(file string, now time.Time) (indexed, bool) {
	e, ok := ix[filepath.Base(file)]
	if !ok || !e.stamp.settled(now) {
		return indexed{}, false
	}
	info, err := os.Stat(file)
	if err != nil || stampOf(info) != e.stamp {
		return indexed{}, false
	}
	return e, true
}

// known is the index of a folder.
func (l *Library) known(dir string) index {
	l.mu.Lock()
	ix, ok := l.index[dir]
	l.mu.Unlock()
	if !ok {
		ix = l.readIndex(dir)
		l.mu.Lock()
		l.index[dir] = ix
		l.mu.Unlock()
	}
	return ix
}

// learn makes the index of a folder anew.
func (l *Library) learn(dir string, files []indexed) {
	ix := make(index, len(files))
	for _, e := range files {
		if e.stamp != (stamp{}) {
			ix[filepath.Base(e.tool.Path)] = e
		}
	}
	l.mu.Lock()
	l.index[dir] = ix
	l.mu.Unlock()
	l.writeIndex(dir, ix)
}

// readIndex reads the index of a folder that some process wrote.
func (l *Library) readIndex(dir string) index {
	file := l.indexFile(dir)
	if file == "" {
		return nil
	}
	data, _, err := read(file)
	if err != nil {
		return nil
	}
	head, body, ok := bytes.Cut(data, []byte("\n\n"))
	if !ok || string(head) != indexHead(dir, l.program, body) {
		return nil
	}
	return unpackIndex(dir, body)
}

// indexHead is what must stand before body: the program, the folder and a sum over it.
func indexHead(dir, program string, body []byte) string {
	return indexFormat + strconv.Quote(program) + "\n" + strconv.Quote(dir) + "\n" + DigestOf(body)
}

// writeIndex keeps the index of a folder. Where that fails the next process reads what
// this one has read, so nobody need be told. It is not synced: one that a power cut tore
// is known by its sum.
func (l *Library) writeIndex(dir string, ix index) {
	file := l.indexFile(dir)
	if file == "" || len(ix) < minIndexed {
		return
	}
	body := packIndex(dir, ix)
	if len(body) > maxIndexSize {
		return
	}
	_, missing := os.Stat(file)
	if err := atomicfile.Cache(file, []byte(indexHead(dir, l.program, body)+"\n\n"+string(body))); err == nil && missing != nil {
		atomicfile.Prune(l.indexes, maxIndexes)
	}
}

func packIndex(dir string, ix index) []byte {
	var t tape
	for name, e := range ix {
		t.indexed(dir, &name, &e)
	}
	return t.data
}

func unpackIndex(dir string, body []byte) index {
	ix := index{}
	for t := (tape{data: body, reading: true}); len(t.data) > 0; {
		var name string
		var e indexed
		if t.indexed(dir, &name, &e); t.torn {
			return nil
		}
		ix[name] = e
	}
	return ix
}

// indexed is one file on the tape. Its scope is that of the folder, its place in the
// folder: neither is kept.
func (t *tape) indexed(dir string, name *string, e *indexed) {
	t.text(name)
	integral(t, &e.stamp.size)
	integral(t, &e.stamp.modified)
	integral(t, &e.stamp.changed)
	integral(t, &e.stamp.device)
	integral(t, &e.stamp.inode)
	l := &e.tool
	if t.reading {
		l.Path = filepath.Join(dir, *name)
	}
	for _, s := range []*string{&l.Name, &l.Description, &l.Category, &l.Subcategory, &l.Version, &l.DeprecatedMessage} {
		t.text(s)
	}
	for _, words := range []*[]string{&l.Tags, &l.SearchTags, &l.SearchKeywords, &l.Platforms} {
		listOn(t, words, t.text)
	}
	t.flag(&l.Deprecated)
	t.flag(&l.Scheduled)
	listOn(t, (*[]Diagnostic)(&l.Diagnostics), func(d *Diagnostic) { t.diagnostic(d, l.Path) })
}

func (t *tape) diagnostic(d *Diagnostic, file string) {
	for _, s := range []*string{&d.Code, (*string)(&d.Severity), &d.Path, &d.Message, &d.Hint} {
		t.text(s)
	}
	t.place(&d.Pos, &d.Len, file)
	listOn(t, &d.Related, func(p *Place) {
		t.place(&p.Pos, &p.Len, file)
		t.text(&p.Message)
	})
	listOn(t, &d.Fix, func(e *Edit) {
		integral(t, &e.From)
		integral(t, &e.To)
		t.text(&e.Text)
	})
}

// place is where something stands, nearly always in the definition's own file.
func (t *tape) place(p *Pos, length *int, file string) {
	for _, n := range []*int{&p.Line, &p.Col, length} {
		integral(t, n)
	}
	own := p.File == file
	t.flag(&own)
	switch {
	case !own:
		t.text(&p.File)
	case t.reading:
		p.File = file
	}
}
