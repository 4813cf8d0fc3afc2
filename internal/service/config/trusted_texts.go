package config

import (
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/os/atomicfile"
	"github.com/flowrun/flowrun/internal/os/ownership"
)

// maxTrustedTexts limits the texts that are kept of one project, in bytes.
const maxTrustedTexts = 4 << 20

// textsFile has the definitions of a project as they were trusted, beside the decision. The decision has
// their digests: nothing but a comparison for people depends on this file.
func textsFile(stateDir, folder string) string {
	return strings.TrimSuffix(decisionFile(stateDir, folder), ".json") + ".texts"
}

// keepTexts replaces the texts that are kept of a project. Those above the limit are left out.
func keepTexts(stateDir, folder string, texts map[string][]byte) error {
	kept, size := map[string][]byte{}, 0
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		if size+len(texts[name]) <= maxTrustedTexts {
			kept[name] = texts[name]
			size += len(texts[name])
		}
	}
	b, err := json.Marshal(kept)
	if err != nil {
		return err
	}
	return atomicfile.Save(textsFile(stateDir, folder), b)
}

// trustedTexts returns the texts that are kept of a project.
func trustedTexts(stateDir, folder string) (texts map[string][]byte) {
	if b, err := ownership.ReadFile(textsFile(stateDir, folder)); err == nil && json.Unmarshal(b, &texts) != nil {
		return nil
	}
	return texts
}

// forgetTexts removes them.
func forgetTexts(stateDir, folder string) error {
	if err := os.Remove(textsFile(stateDir, folder)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
