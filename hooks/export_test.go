package hooks

import (
	"time"

	"github.com/flowrun/flowrun/internal/lang/tool"
)

// LoaderWithin returns a loader that gives each tool another time to describe itself.
func LoaderWithin(timeout time.Duration, c LoaderConfig) tool.Loader {
	return (&loader{LoaderConfig: c, timeout: timeout}).load
}
