package procid

import (
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"sync/atomic"
)

// place is a hash of the place of this process, 0 until SetPlace was called.
var place atomic.Uint32

// PlaceBits is how many bits of a place fit into a birthmark.
const PlaceBits = 19

// SetPlace sets the place of this process: the directory that holds the state of its runs, together
// with its user and its namespace. Only the first call has an effect. flowrun processes with the
// same place end what another of them left when it was killed; they do not touch what belongs to
// other places.
func SetPlace(dir string) {
	if dir == "" {
		return
	}
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	h := fnv.New32a()
	fmt.Fprintf(h, "%s\x00%d\x00%s", dir, os.Geteuid(), Self().Namespace)
	place.CompareAndSwap(0, max(h.Sum32()>>(32-PlaceBits), 1))
}

// HasPlace reports whether SetPlace was called.
func HasPlace() bool { return place.Load() != 0 }

// ForgetPlace undoes SetPlace, for tests that use several places.
func ForgetPlace() { place.Store(0) }

const tagFormat = "%d.%d.%x"

// Tag returns a name for this process and its place. It is part of the names of files and cgroups
// that must be removed if this process is killed. It consists of digits, the letters a to f, and
// dots.
func Tag() string {
	return fmt.Sprintf(tagFormat, Self().PID, Self().Start, place.Load())
}

// Abandoned reports whether the process of a Tag had the place of this process and has certainly
// ended.
func Abandoned(tag string) bool {
	at, gone := ReadTag(tag)
	return gone && at != 0 && at == place.Load()
}

// ReadTag returns the place in a Tag, and whether its process has certainly ended.
func ReadTag(tag string) (at uint32, gone bool) {
	id := Identity{Boot: BootID(), Namespace: Self().Namespace}
	n, err := fmt.Sscanf(tag, tagFormat, &id.PID, &id.Start, &at)
	if n != 3 || err != nil || fmt.Sprintf(tagFormat, id.PID, id.Start, at) != tag {
		return 0, false
	}
	return at, id.State() == Dead
}
