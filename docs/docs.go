// Package docs contains the pages of the documentation, for flowrun docs. It knows nothing of what they say.
package docs

import (
	"embed"
	"io/fs"
)

//go:embed *.md guides tutorial
var files embed.FS

// Files returns the pages: NAME.md, guides/NAME.md and tutorial/NAME.md.
func Files() fs.FS { return files }
