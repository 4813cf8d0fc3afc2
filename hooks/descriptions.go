package hooks

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/flowrun/flowrun/internal/atomicfile"
	"github.com/flowrun/flowrun/internal/jsworld"
	"github.com/flowrun/flowrun/tool"
)

// described is what is kept of a file: what the tool said of itself, and of which code.
type described struct {
	Bundled bool   // the file is part of what was described
	Code    string // digest of what was described
	Answer  description
	About   About
}

const (
	maxDescribed      = 4096    // files in a cache; those that were written longest ago give way
	largestDescribed  = 1 << 20 // bytes
	descriptionFormat = "flowrun description 2\n"
)

// glueDigest tells one version of the program that asks from another, which may ask
// differently.
var glueDigest = sync.OnceValue(func() string { return tool.DigestOf([]byte(descriptionFormat + jsworld.Prelude())) })

// descriptionKey names what is kept of a file by everything it depends on but what is
// bundled with it: its text, its name, and who asks.
func descriptionKey(file string, src []byte) string {
	return tool.DigestOf([]byte(glueDigest() + "\n" + toolStem(file) + "\n" + string(src)))[len("sha256:"):][:40]
}

// recall is what was kept under a key. A file that cannot be read, or is damaged, is as one
// that is not there.
func (l *loader) recall(key string) (d described, ok bool) {
	if l.Cache == "" {
		return d, false
	}
	text, err := os.ReadFile(filepath.Join(l.Cache, key))
	if err != nil {
		return d, false
	}
	head, body, ok := strings.Cut(string(text), "\n")
	if !ok || head != tool.DigestOf([]byte(body)) || json.Unmarshal([]byte(body), &d) != nil {
		return described{}, false
	}
	return d, true
}

// keep writes what a tool said of itself. Where that fails it is asked again next time, so
// nobody need be told; a file that a power cut tore is known by its sum.
func (l *loader) keep(key string, d described) {
	if body, err := json.Marshal(d); err == nil {
		l.write(key, []byte(tool.DigestOf(body)+"\n"+string(body)))
	}
}

func (l *loader) write(key string, text []byte) {
	if l.Cache == "" || len(text) > largestDescribed || atomicfile.Cache(filepath.Join(l.Cache, key), text) != nil {
		return
	}
	if strings.HasPrefix(key, "00") { // now and then is enough
		atomicfile.Prune(l.Cache, maxDescribed)
	}
}
