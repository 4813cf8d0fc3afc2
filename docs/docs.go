// Package docs contains the pages of the documentation, for what is made of them: package docpages, which flowrun
// contains, and the static site. It knows nothing of what they say.
package docs

import (
	"embed"
	"io/fs"
)

//go:embed README.md explanation guides reference tutorial
var files embed.FS

// Files returns the pages: README.md, and FOLDER/NAME.md for the folders tutorial, guides, reference and explanation.
func Files() fs.FS { return files }
