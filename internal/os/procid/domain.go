package procid

import (
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
)

// Domain identifies the flowrun processes that end what another of them left when it was killed: those with the same
// state directory, user and namespace. They do not touch what belongs to other domains. The zero Domain has no other
// process, and nothing is ended because of it.
type Domain uint32

// DomainBits is how many bits of a Domain fit into a birthmark.
const DomainBits = 19

// DomainOf returns the Domain of this process for runs whose state is in a directory, 0 for "".
func DomainOf(dir string) Domain {
	if dir == "" {
		return 0
	}
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	h := fnv.New32a()
	fmt.Fprintf(h, "%s\x00%d\x00%s", dir, os.Geteuid(), Self().Namespace)
	return Domain(max(h.Sum32()>>(32-DomainBits), 1))
}

const tagFormat = "%d.%d.%x"

// Tag returns a name for this process in the domain. It is part of the names of files and cgroups
// that must be removed if this process is killed. It consists of digits, the letters a to f, and
// dots.
func (d Domain) Tag() string {
	return fmt.Sprintf(tagFormat, Self().PID, Self().Start, d)
}

// Abandoned reports whether a Tag is of this domain and its process has certainly ended.
func (d Domain) Abandoned(tag string) bool {
	at, gone := ReadTag(tag)
	return gone && at != 0 && at == d
}

// ReadTag returns the domain in a Tag, and whether its process has certainly ended.
func ReadTag(tag string) (at Domain, gone bool) {
	id := Identity{Boot: BootID(), Namespace: Self().Namespace}
	n, err := fmt.Sscanf(tag, tagFormat, &id.PID, &id.Start, &at)
	if n != 3 || err != nil || fmt.Sprintf(tagFormat, id.PID, id.Start, at) != tag {
		return 0, false
	}
	return at, id.State() == Dead
}
