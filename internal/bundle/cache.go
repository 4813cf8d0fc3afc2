package bundle

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/flowrun/flowrun/internal/atomicfile"
)

// maxKept bounds the kept bundles, in bytes; the oldest go first.
const maxKept = 256 << 20

// File is a file as it was when it was bundled.
type File struct {
	Path   string
	Size   int64
	Time   time.Time // of its last change; zero where it is not known
	Digest string    // SHA-256 of the text, in hexadecimal
}

func fileOf(path string, text []byte) File {
	sum := sha256.Sum256(text)
	f := File{Path: path, Size: int64(len(text)), Digest: hex.EncodeToString(sum[:])}
	if info, err := os.Stat(path); err == nil && time.Since(info.ModTime()) > settled {
		f.Time = info.ModTime()
	}
	return f
}

// settled is how old a change must be for its time to tell it from the next one: some file
// systems count in seconds.
const settled = 2 * time.Second

// Fresh says whether the file is still what it was. Where size and time are the same its
// text is not read.
func (f File) Fresh() bool {
	info, err := os.Stat(f.Path)
	switch {
	case err != nil || info.Size() != f.Size:
		return false
	case !f.Time.IsZero() && info.ModTime().Equal(f.Time):
		return true
	}
	text, err := os.ReadFile(f.Path)
	sum := sha256.Sum256(text)
	return err == nil && hex.EncodeToString(sum[:]) == f.Digest
}

// builder is which program makes bundles: another version may make others.
var builder = sync.OnceValue(func() any {
	build, ok := debug.ReadBuildInfo()
	if !ok {
		return nil
	}
	return []any{build.Main, build.Deps, build.Settings}
})

// key is the name of a request's kept bundle: everything that makes it what it is but the
// files that it reads.
func (r Request) key() string {
	h := sha256.New()
	enc := json.NewEncoder(h)
	// A folder of packages that has come beside the tool, or went, changes what is found.
	var beside []string
	root := home(filepath.Dir(r.File))
	for at := filepath.Dir(r.File); ; at = filepath.Dir(at) {
		if info, err := os.Stat(filepath.Join(at, "node_modules")); err == nil {
			beside = append(beside, at, info.ModTime().String())
		}
		if at == root || filepath.Dir(at) == at {
			break
		}
	}
	enc.Encode([]any{builder(), r.File, r.Source, r.Packages, r.Installed, r.Node, beside})
	return hex.EncodeToString(h.Sum(nil))
}

// kept is the bundle of an earlier time, where nothing that it was made of has changed.
func (b *Bundler) kept(r Request) (Result, bool) {
	var result Result
	if b.Cache == "" {
		return result, false
	}
	text, err := os.ReadFile(filepath.Join(b.Cache, r.key()+".json"))
	if err != nil || json.Unmarshal(text, &result) != nil || len(result.Code) == 0 {
		return Result{}, false
	}
	return result, result.lacks(r.Installed) && !slices.ContainsFunc(result.Files, func(f File) bool { return !f.Fresh() })
}

// keep stores a bundle. A cache that cannot be written costs time, nothing else.
func (b *Bundler) keep(r Request, result Result) {
	text, err := json.Marshal(result)
	if b.Cache == "" || err != nil || atomicfile.Save(filepath.Join(b.Cache, r.key()+".json"), text) != nil {
		return
	}
	b.prune()
}

// prune removes the oldest bundles over mostKept.
func (b *Bundler) prune() {
	list, _ := os.ReadDir(b.Cache)
	type aged struct {
		path string
		size int64
		at   time.Time
	}
	var all []aged
	for _, e := range list {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() && strings.HasSuffix(e.Name(), ".json") {
			all = append(all, aged{filepath.Join(b.Cache, e.Name()), info.Size(), info.ModTime()})
		}
	}
	slices.SortFunc(all, func(a, b aged) int { return b.at.Compare(a.at) })
	var sum int64
	for _, one := range all {
		if sum += one.size; sum > maxKept {
			os.Remove(one.path)
		}
	}
}
