package plan

import (
	"fmt"
	"slices"
	"strings"
)

func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("tool %s runs on %s only; this is %s", e.Tool, strings.Join(e.Platforms, ", "), Platform())
}

// Supported says whether the tool runs on this platform (S1-225); the error is an
// *UnsupportedError.
func (p *Plan) Supported() error {
	list := p.Definition.Platforms
	if len(list) == 0 || slices.Contains(list, Platform()) {
		return nil
	}
	return &UnsupportedError{Tool: p.Name(), Platforms: list}
}
