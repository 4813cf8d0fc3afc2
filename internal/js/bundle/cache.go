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

	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/os/atomicfile"
	"github.com/flowrun/flowrun/internal/os/ownership"
)

// maxKept is the maximum size of the cache in bytes; the oldest bundles are removed first.
const maxKept = 256 << 20

// File is the state of a file when it was bundled.
type File struct {
	Path   string
	Size   int64
	Time   time.Time // time of its last change; zero if it is not reliable
	Digest string    // tool.DigestOf the text
}

func fileOf(path string, text []byte) File {
	f := File{Path: path, Size: int64(len(text)), Digest: tool.DigestOf(text)}
	if info, err := os.Stat(path); err == nil && time.Since(info.ModTime()) > minAge {
		f.Time = info.ModTime()
	}
	return f
}

// minAge is the minimum age of a change whose time identifies it: some file systems store
// only seconds.
const minAge = 2 * time.Second

// Fresh reports whether the file is unchanged. If size and time are the same, its text is
// not read.
func (f File) Fresh() bool {
	info, err := os.Stat(f.Path)
	switch {
	case err != nil || info.Size() != f.Size:
		return false
	case !f.Time.IsZero() && info.ModTime().Equal(f.Time):
		return true
	}
	text, err := os.ReadFile(f.Path)
	return err == nil && tool.DigestOf(text) == f.Digest
}

// builder identifies the program that makes bundles: another version may make different
// ones.
var builder = sync.OnceValue(func() any {
	build, ok := debug.ReadBuildInfo()
	if !ok {
		return nil
	}
	return []any{build.Main, build.Deps, build.Settings}
})

// key returns the name of the request's bundle in the cache: a digest of everything that
// determines it, except for the files that it reads.
func (r Request) key() string {
	h := sha256.New()
	enc := json.NewEncoder(h)
	// A node_modules folder that was added beside the tool, or removed, changes what is
	// found.
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

// cached returns the cached bundle if none of its files has changed.
func (b *Bundler) cached(r Request) (Result, bool) {
	var result Result
	if b.Cache == "" {
		return result, false
	}
	text, err := ownership.ReadFile(filepath.Join(b.Cache, r.key()+".json"))
	if err != nil || json.Unmarshal(text, &result) != nil || len(result.Code) == 0 {
		return Result{}, false
	}
	return result, result.stillMissing(r.Installed) && !slices.ContainsFunc(result.Files, func(f File) bool { return !f.Fresh() })
}

// store caches a bundle. Errors are ignored: without the cache only time is lost.
func (b *Bundler) store(r Request, result Result) {
	text, err := json.Marshal(result)
	if b.Cache == "" || err != nil || atomicfile.Save(filepath.Join(b.Cache, r.key()+".json"), text) != nil {
		return
	}
	b.prune()
}

// prune removes the oldest bundles until the cache has at most maxKept bytes.
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
