package library

import (
	"bytes"
	"os"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/flowrun/flowrun/internal/lang/decode"
	"github.com/flowrun/flowrun/internal/lang/keytable"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// reader reads single files, and keeps what it has read in memory until the file changes. Safe for concurrent use.
type reader struct {
	*formats
	now func() time.Time

	mu    sync.Mutex
	cache map[cacheKey]cachedFile
}

func newReader(f *formats) *reader {
	return &reader{formats: f, now: time.Now, cache: map[cacheKey]cachedFile{}}
}

// cacheKey is a file in a scope, which is a part of its definition.
type cacheKey struct {
	scope tool.Scope
	path  string
}

// cachedFile is a cached file.
type cachedFile struct {
	stamp fileStamp
	read  time.Time
	src   []byte
	def   *tool.Definition
	found tool.Diagnostics
	files map[string]fileStamp // of the further files that def was made of
}

// stale reports whether one of the further files that the definition was made of has changed.
func (c cachedFile) stale() bool {
	for file, was := range c.files {
		if info, err := os.Stat(file); err != nil || stampOf(info) != was {
			return true
		}
	}
	return false
}

// stampsOf returns the stamps of those files that exist.
func stampsOf(files []tool.Part) map[string]fileStamp {
	stamps := make(map[string]fileStamp, len(files))
	for _, file := range files {
		if info, err := os.Stat(file.Path); err == nil {
			stamps[file.Path] = stampOf(info)
		}
	}
	return stamps
}

// maxCached is the number of files in the cache. Definitions need many times the memory of their text, so a program that
// reads thousands of them, each once, must not keep them all.
const maxCached = 1000

// load reads a file, or returns it from the cache. Two goroutines that both miss the cache both read the file: this
// costs less than waiting for a lock.
func (r *reader) load(path string, scope tool.Scope) (*tool.Definition, tool.Diagnostics, error) {
	c, err := r.loadCached(path, scope)
	return c.def, c.found, err
}

func (r *reader) loadCached(path string, scope tool.Scope) (cachedFile, error) {
	c, ok := r.cached(path, scope)
	// If a definition has errors, it is not known which further files it would be made of.
	ok = ok && !(r.customLoader(path) != nil && (c.found.Err() != nil || c.stale()))
	if ok && c.stamp.settled(c.read) {
		if info, err := os.Stat(path); err == nil && stampOf(info) == c.stamp {
			return c, nil
		}
	}
	now := r.now()
	src, info, err := readRegularFile(path)
	if err != nil {
		return cachedFile{}, err
	}
	if !ok || !bytes.Equal(src, c.src) {
		c.def, c.found = r.decode(path, scope, src)
		c.files = stampsOf(c.def.Files)
	}
	c.stamp, c.read, c.src = stampOf(info), now, src
	r.keep(path, scope, c)
	return c, nil
}

func (r *reader) cached(path string, scope tool.Scope) (c cachedFile, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c, ok = r.cache[cacheKey{scope, path}]
	return c, ok
}

func (r *reader) keep(path string, scope tool.Scope, c cachedFile) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.cache) >= maxCached {
		clear(r.cache)
	}
	r.cache[cacheKey{scope, path}] = c
}

// declares reports whether the definition in a file has the given name. Files whose text does not contain the name,
// nearly all in a folder, are only read and not decoded.
func (r *reader) declares(file, name string) bool {
	if r.customLoader(file) == nil && tool.Stem(file) != name {
		src, _, err := readRegularFile(file)
		if err != nil || !mayContain(src, name) {
			return false
		}
	}
	def, found, err := r.load(file, tool.ScopeFile)
	return err == nil && def.Name == name && !decode.IsNotTool(found)
}

// isNotTool reports whether a file is Markdown that is not a tool. Folders of tools can contain such files.
func (r *reader) isNotTool(file string) bool {
	if tool.Extension(file) != ".md" {
		return false
	}
	_, found, err := r.load(file, tool.ScopeFile)
	return err == nil && decode.IsNotTool(found)
}

// mayContain reports whether YAML text can contain the name as a value: it contains the name itself, or an escape
// sequence, which is possible only in double quotes.
func mayContain(src []byte, name string) bool {
	if bytes.Contains(src, []byte(name)) {
		return true
	}
	for at := 0; ; at++ {
		next := bytes.IndexByte(src[at:], '\\')
		if next < 0 {
			return false
		}
		at += next
		if before := bytes.TrimRightFunc(src[:at], inName); bytes.HasSuffix(before, []byte(`"`)) {
			return true
		}
	}
}

// inName reports whether a character can be part of a name.
func inName(r rune) bool {
	return r < utf8.RuneSelf && (keytable.IsNameByte(byte(r)) || r == '.')
}
