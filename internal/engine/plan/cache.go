package plan

import (
	"time"

	"github.com/flowrun/flowrun/internal/lang/expr"
)

// CacheRule is a step's compiled cache.
type CacheRule struct {
	Inputs, Outputs []*expr.Template
	Artifacts       []Artifact // outputs too
	Env             []string
	Key             *expr.Template // nil for none
	TTL             time.Duration  // 0 for no limit
}
