package launch

import (
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/internal/console"
)

// Actions of the audit list whose detail is a decision.
const (
	AuditApprove = "approve"
	AuditRefuse  = "refuse"
)

// Decision is what the audit list keeps of a call that was asked about or refused.
// Secrets are masked in it.
type Decision struct {
	Tool        string            `json:"tool"`
	Definition  string            `json:"definition,omitempty"` // digest
	EntryPoint  string            `json:"door"`
	Action      string            `json:"verdict"`            // approved or refused
	By          string            `json:"by"`                 // policy, or terminal: a person
	Terminal    string            `json:"terminal,omitempty"` // its device, such as /dev/pts/3
	Reason      string            `json:"reason"`
	Elevated    bool              `json:"elevated,omitempty"`
	Permissions []string          `json:"permissions,omitempty"` // resolved
	Params      map[string]string `json:"params,omitempty"`
}

// String is the decision in a line, for people.
func (d Decision) String() string {
	s := fmt.Sprintf("%s by %s: %s", d.Action, strings.TrimSpace(d.By+" "+d.Terminal), d.Reason)
	if len(d.Permissions) > 0 {
		s += "; needs " + strings.Join(d.Permissions, ", ")
	}
	return console.Visible(s)
}
