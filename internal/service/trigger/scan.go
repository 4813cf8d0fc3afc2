package trigger

import (
	"encoding/binary"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/flowrun/flowrun/internal/engine/cache"
	"github.com/flowrun/flowrun/internal/lang/filestamp"
)

// State is what a Scan knows of a file.
type State struct {
	Size     int64
	Modified int64 // ns since 1970
	Changed  int64 // when the file or its metadata changed, ns since 1970; 0 if the system does not say
}

// since returns when the file got its present content and place, as far as the system says.
func (s State) since() time.Time { return time.Unix(0, max(s.Modified, s.Changed)) }

func (s State) sameVersion(o State) bool { return s.Size == o.Size && s.Modified == o.Modified }

// versionControl lists folders that change although no file of the project changes.
func versionControl(name string) bool {
	return slices.Contains([]string{".git", ".hg", ".jj", ".svn"}, name)
}

// Scan returns the files that a pattern selects, by absolute path. The pattern is a path, a folder, which means
// everything below it, or a pattern as in cache.inputs; it is relative to folder. Files that cannot be read are left out,
// and so are links: else who may write to the folder could choose any file that flowrun may read.
func Scan(folder, pattern string) map[string]State {
	found := map[string]State{}
	base, rest, err := cache.Base(filepath.ToSlash(pattern))
	if err != nil {
		return found
	}
	root := filepath.FromSlash(base)
	if !filepath.IsAbs(root) {
		root = filepath.Join(folder, root)
	}
	if cache.IsName(rest) && rest != "" && rest != "." { // a path: nothing else needs to be read
		root, rest = filepath.Join(root, filepath.FromSlash(rest)), ""
	}
	filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // files may appear and disappear while it reads
		}
		if d.IsDir() {
			if path != root && versionControl(d.Name()) {
				return filepath.SkipDir
			}
			return nil
		}
		rel, err := filepath.Rel(root, path)
		if err != nil || rest != "" && !cache.Covers(rest, filepath.ToSlash(rel)) {
			return nil
		}
		if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() {
			changed, _, _ := filestamp.Identity(info)
			found[path] = State{info.Size(), info.ModTime().UnixNano(), changed}
		}
		return nil
	})
	return found
}

// The bits of a Key: those of the version, and those that tell two arrivals of the same version
// apart. Together they are fewer than the bits of the time now in nanoseconds.
const (
	versionBits = 38
	arrivalBits = 22
)

// Key returns the number of the event that a file has this state. It is not negative.
func Key(path string, s State) int64 {
	first, _ := Versions(path, s)
	return first | int64(sum("arrival", s.Changed)&(1<<arrivalBits-1))
}

// Versions returns the first and the last number that events with this version of the file can have.
func Versions(path string, s State) (first, last int64) {
	first = int64(sum(path, s.Size, s.Modified)&(1<<versionBits-1)) << arrivalBits
	return first, first | (1<<arrivalBits - 1)
}

// sum returns a hash with well mixed low bits.
func sum(text string, numbers ...int64) uint64 {
	h := fnv.New64a()
	_, _ = io.WriteString(h, text)
	for _, n := range numbers {
		_ = binary.Write(h, binary.LittleEndian, n)
	}
	x := h.Sum64()
	return x ^ x>>29 ^ x>>43
}
