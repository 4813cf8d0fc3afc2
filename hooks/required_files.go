package hooks

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/flowrun/flowrun/internal/lang/tool"
)

// maxRequired limits how many files requiredFiles reads.
const maxRequired = 1000

// requiredFiles returns the files that Node.js will read for a file that is not bundled. It finds those whose relative path
// is written in the text, and those that they require.
func requiredFiles(file string, src []byte) (parts []tool.Part) {
	seen := map[string]bool{file: true}
	var follow func(file string, src []byte)
	follow = func(file string, src []byte) {
		for _, m := range requireCalls().FindAllSubmatch(src, -1) {
			path, text := readRequired(filepath.Dir(file), string(m[1]))
			if path == "" || seen[path] || len(seen) > maxRequired {
				continue
			}
			seen[path] = true
			parts = append(parts, tool.Part{Path: path, Digest: tool.DigestOf(text)})
			follow(path, text)
		}
	}
	follow(file, src)
	return parts
}

// readRequired returns the file that require(name) means in a folder, as Node.js finds it, and its text. The path is "" for
// a package and if there is no such file.
func readRequired(dir, name string) (path string, text []byte) {
	if !strings.HasPrefix(name, "./") && !strings.HasPrefix(name, "../") && !filepath.IsAbs(name) {
		return "", nil
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	for _, ending := range []string{"", ".js", ".json", ".node", "/index.js", "/index.json", "/index.node"} {
		if text, err := os.ReadFile(name + ending); err == nil {
			return name + ending, text
		}
	}
	return "", nil
}
