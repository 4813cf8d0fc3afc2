package procid

import (
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"sync/atomic"
)

// place is where this process belongs: see Setplace. 0 until it is known.
var place atomic.Uint32

// PlaceBits is how much of a place fits into a birthmark.
const PlaceBits = 19

// SetPlace says which folder holds the state of the runs of this process. The first call
// counts. Processes with one place end what another of them left when it was killed
// ([Sweep]); what belongs to other places is none of their business.
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

// HasPlace says whether the place of this process is known.
func HasPlace() bool { return place.Load() != 0 }

// ForgetPlace makes the place unknown again. Tests set several.
func ForgetPlace() { place.Store(0) }

const tagFormat = "%d.%d.%x"

// Tag names this process, and its place, in the names of what it must not leave behind.
// It consists of digits, letters a to f, and dots.
func Tag() string {
	return fmt.Sprintf(tagFormat, Self().PID, Self().Start, place.Load())
}

// Abandoned says of a Tag that its process was of this place and is certainly gone.
func Abandoned(tag string) bool {
	at, gone := ReadTag(tag)
	return gone && at != 0 && at == place.Load()
}

// ReadTag is the place in a Tag, and whether there is no such process here.
func ReadTag(tag string) (at uint32, gone bool) {
	id := Identity{Boot: BootID(), Namespace: Self().Namespace}
	n, err := fmt.Sscanf(tag, tagFormat, &id.PID, &id.Start, &at)
	if n != 3 || err != nil || fmt.Sprintf(tagFormat, id.PID, id.Start, at) != tag {
		return 0, false
	}
	return at, id.State() == Dead
}
