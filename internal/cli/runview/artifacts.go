package runview

import (
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/engine/runresult"
	"github.com/flowrun/flowrun/internal/screen/console"
)

// maxArtifacts is how many artifacts of a run are named.
const maxArtifacts = 10

// ArtifactNames names the artifacts of a run in one line, "" if there are none.
func ArtifactNames(r *runresult.Result) string {
	var names []string
	list := r.Artifacts()
	for i, a := range list {
		if i == maxArtifacts {
			names = append(names, fmt.Sprintf("and %d more", len(list)-i))
			break
		}
		names = append(names, fmt.Sprintf("%s/%s (%s)", console.Clean(a.Step), a.Name, ui.FormatBytes(a.Size)))
	}
	return strings.Join(names, ", ")
}
