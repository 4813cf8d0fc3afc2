package hooks

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"sync"

	"github.com/flowrun/flowrun/internal/js/jsworld"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/os/atomicfile"
	"github.com/flowrun/flowrun/internal/os/ownership"
)

// cachedDescription is the cached description of a file, with the digest of the code that was
// described.
type cachedDescription struct {
	Bundled bool   // the described code is a bundle of which the file is a part
	Code    string // digest of the described code
	Answer  description
	About   About
}

const (
	maxDescriptions    = 4096    // files in a cache; the oldest are removed
	maxDescriptionSize = 1 << 20 // bytes
	descriptionFormat  = "flowrun description 4\n"
)

// describerDigest identifies the version of the code that describes tools. Another version may
// describe them differently.
var describerDigest = sync.OnceValue(func() string { return tool.DigestOf([]byte(descriptionFormat + jsworld.Prelude())) })

// descriptionKey returns the cache key for a file. It covers everything that the description
// depends on except bundled files: the text of the file, its name, and describerDigest.
func descriptionKey(file string, src []byte) string {
	return tool.DigestOf([]byte(describerDigest() + "\n" + toolStem(file) + "\n" + string(src)))[len("sha256:"):][:40]
}

// readDescription reads the cached description for a key. A file that cannot be read, or is
// damaged, counts as missing.
func (l *loader) readDescription(key string) (d cachedDescription, ok bool) {
	if l.Cache == "" {
		return d, false
	}
	text, err := ownership.ReadFile(filepath.Join(l.Cache, key))
	if err != nil {
		return d, false
	}
	head, body, ok := strings.Cut(string(text), "\n")
	if !ok || head != tool.DigestOf([]byte(body)) || json.Unmarshal([]byte(body), &d) != nil {
		return cachedDescription{}, false
	}
	return d, true
}

// storeDescription stores a description in the cache. Errors are ignored: the tool is described
// again next time. The checksum detects a file that was only partly written because of a power
// failure.
func (l *loader) storeDescription(key string, d cachedDescription) {
	if body, err := json.Marshal(d); err == nil {
		l.writeCache(key, []byte(tool.DigestOf(body)+"\n"+string(body)))
	}
}

func (l *loader) writeCache(key string, text []byte) {
	if l.Cache == "" || len(text) > maxDescriptionSize || atomicfile.Cache(filepath.Join(l.Cache, key), text) != nil {
		return
	}
	if strings.HasPrefix(key, "00") { // one write in 256 is enough
		atomicfile.Prune(l.Cache, maxDescriptions)
	}
}
