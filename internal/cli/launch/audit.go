package launch

import (
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/internal/console"
)

// Actions in the audit log whose detail is a Decision.
const (
	AuditApprove = "approve"
	AuditRefuse  = "refuse"
)

// Decision is what the audit log keeps about a call that was refused, or that a person was asked
// about. Secrets in it are masked.
type Decision struct {
	Tool        string            `json:"tool"`
	Definition  string            `json:"definition,omitempty"` // digest of the definition
	EntryPoint  string            `json:"door"`
	Action      string            `json:"verdict"`            // approved or refused
	By          string            `json:"by"`                 // policy, or terminal if a person decided
	Terminal    string            `json:"terminal,omitempty"` // device of the terminal, such as /dev/pts/3
	Reason      string            `json:"reason"`
	Elevated    bool              `json:"elevated,omitempty"`
	Permissions []string          `json:"permissions,omitempty"` // resolved
	Params      map[string]string `json:"params,omitempty"`
}

// String returns the decision in one line.
func (d Decision) String() string {
	s := fmt.Sprintf("%s by %s: %s", d.Action, strings.TrimSpace(d.By+" "+d.Terminal), d.Reason)
	if len(d.Permissions) > 0 {
		s += "; needs " + strings.Join(d.Permissions, ", ")
	}
	return console.Visible(s)
}
