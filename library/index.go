package library

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/os/atomicfile"
	"github.com/flowrun/flowrun/internal/os/ownership"
)

// An index stores what a listing shows of the files in one folder, for later processes. Without it, each list and each
// shell completion would read up to a thousand definitions again.
//
// The index is only a cache. An entry is valid only if the file still has the stamp under which it was read, and if
// that stamp had settled (see fileStamp.settled). In all other cases the file is read: also if the index is missing,
// damaged, or was written by another build of the program.

// indexes are the indexes of all folders. Safe for concurrent use.
type indexes struct {
	folder  string // Config.Index
	program string // see programID

	mu    sync.Mutex
	known map[string]index // by folder
}

// newIndexes returns the indexes that are stored in a folder; "" for none.
func newIndexes(folder string) *indexes {
	x := &indexes{folder: folder, known: map[string]index{}}
	if folder != "" {
		x.program = programID()
	}
	return x
}

// index holds the known files of one folder, by name. It is immutable.
type index map[string]*indexed

// indexed is a file as a listing shows it, with the stamp under which it was read.
type indexed struct {
	stamp fileStamp
	tool  Listed
}

const (
	minIndexed   = 32      // files in a folder; reading fewer is as fast as reading an index
	maxIndexSize = 8 << 20 // bytes
	maxIndexes   = 128     // folders; the indexes that were written longest ago are removed
)

// indexFormat is the first line of every index. Increase the number when the format of the rest changes.
const indexFormat = "flowrun index 3\n"

// programID identifies this build of the program, because another build may read definitions differently. It returns ""
// if the build cannot be identified; then no index is used.
func programID() string {
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

// file returns the path of the index of a folder, or "" if there is none.
func (x *indexes) file(dir string) string {
	if x.folder == "" || x.program == "" {
		return ""
	}
	return filepath.Join(x.folder, tool.DigestOf([]byte(dir))[len("sha256:"):][:32])
}

// valid returns the entry of a file if it is still valid at the time now, or else nil.
func (ix index) valid(file string, now time.Time) *indexed {
	e := ix[filepath.Base(file)]
	if e == nil || !e.stamp.settled(now) {
		return nil
	}
	info, err := os.Stat(file)
	if err != nil || stampOf(info) != e.stamp {
		return nil
	}
	return e
}

// of returns the index of a folder.
func (x *indexes) of(dir string) index {
	x.mu.Lock()
	ix, ok := x.known[dir]
	x.mu.Unlock()
	if !ok {
		ix = x.read(dir)
		x.mu.Lock()
		x.known[dir] = ix
		x.mu.Unlock()
	}
	return ix
}

// update replaces the index of a folder.
func (x *indexes) update(dir string, files []*indexed) {
	ix := make(index, len(files))
	for _, e := range files {
		if e != nil && e.stamp != (fileStamp{}) {
			ix[filepath.Base(e.tool.Path)] = e
		}
	}
	x.mu.Lock()
	x.known[dir] = ix
	x.mu.Unlock()
	x.write(dir, ix)
}

// read reads the index of a folder from disk. It returns nil if there is no valid one.
func (x *indexes) read(dir string) index {
	file := x.file(dir)
	if file == "" {
		return nil
	}
	data, err := ownership.ReadFile(file)
	if err != nil {
		return nil
	}
	head, body, ok := bytes.Cut(data, []byte("\n\n"))
	if !ok || string(head) != indexHead(dir, x.program, body) {
		return nil
	}
	return unpackIndex(dir, body)
}

// indexHead returns the header of an index: the format, the program, the folder and a checksum of body.
func indexHead(dir, program string, body []byte) string {
	return indexFormat + strconv.Quote(program) + "\n" + strconv.Quote(dir) + "\n" + tool.DigestOf(body)
}

// write stores the index of a folder. Errors are ignored: the next process then reads the files itself. The file
// is not synced; if a power failure damages it, its checksum does not match.
func (x *indexes) write(dir string, ix index) {
	file := x.file(dir)
	if file == "" || len(ix) < minIndexed {
		return
	}
	body := packIndex(dir, ix)
	if len(body) > maxIndexSize {
		return
	}
	_, missing := os.Stat(file)
	if err := atomicfile.Cache(file, []byte(indexHead(dir, x.program, body)+"\n\n"+string(body))); err == nil && missing != nil {
		atomicfile.Prune(x.folder, maxIndexes)
	}
}

func packIndex(dir string, ix index) []byte {
	var t indexCodec
	for name, e := range ix {
		t.indexed(dir, &name, e)
	}
	return t.data
}

// packedSize is roughly how many bytes of an index an entry has.
const packedSize = 80

func unpackIndex(dir string, body []byte) index {
	ix := make(index, len(body)/packedSize)
	for t := (indexCodec{data: body, source: string(body), reading: true}); len(t.data) > 0; {
		var name string
		e := &indexed{}
		if t.indexed(dir, &name, e); t.invalid {
			return nil
		}
		ix[name] = e
	}
	return ix
}

// indexed encodes or decodes one file. Its scope and folder are those of the index and are not stored.
func (t *indexCodec) indexed(dir string, name *string, e *indexed) {
	t.text(name)
	codecInteger(t, &e.stamp.size)
	codecInteger(t, &e.stamp.modified)
	codecInteger(t, &e.stamp.changed)
	codecInteger(t, &e.stamp.device)
	codecInteger(t, &e.stamp.inode)
	l := &e.tool
	if t.reading {
		l.Path = filepath.Join(dir, *name)
	}
	for _, s := range []*string{&l.Name, &l.Description, &l.Category, &l.Subcategory, &l.Version, &l.DeprecatedMessage} {
		t.text(s)
	}
	for _, words := range []*[]string{&l.Tags, &l.SearchTags, &l.SearchKeywords, &l.Platforms} {
		codecList(t, words, t.text)
	}
	t.flag(&l.Deprecated)
	t.flag(&l.Scheduled)
	t.text(&l.BaseTool)
	t.place(&l.BaseToolPos, new(int), l.Path)
	codecList(t, (*[]tool.Diagnostic)(&l.Diagnostics), func(d *tool.Diagnostic) { t.diagnostic(d, l.Path) })
}

func (t *indexCodec) diagnostic(d *tool.Diagnostic, file string) {
	for _, s := range []*string{&d.Code, (*string)(&d.Severity), &d.Path, &d.Message, &d.Hint} {
		t.text(s)
	}
	t.place(&d.Pos, &d.Len, file)
	codecList(t, &d.Related, func(p *tool.Place) {
		t.place(&p.Pos, &p.Len, file)
		t.text(&p.Message)
	})
	codecList(t, &d.Fix, func(e *tool.Edit) {
		codecInteger(t, &e.From)
		codecInteger(t, &e.To)
		t.text(&e.Text)
	})
}

// place encodes or decodes a position. The file is stored only if it is not the definition's own.
func (t *indexCodec) place(p *tool.Pos, length *int, file string) {
	for _, n := range []*int{&p.Line, &p.Col, length} {
		codecInteger(t, n)
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
