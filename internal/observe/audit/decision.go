package audit

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
)

// Actions in the audit log whose detail is a Decision.
const (
	Approve = "approve"
	Refuse  = "refuse"
)

// Decision is what the audit log keeps about a call that was refused, or that a person was asked
// about. Secrets in it are masked.
type Decision struct {
	Tool        string            `json:"tool"`
	Definition  string            `json:"definition,omitempty"` // digest of the definition
	EntryPoint  string            `json:"entry_point"`
	Action      string            `json:"verdict"`            // approved or refused
	By          string            `json:"by"`                 // policy, or terminal if a person decided
	Terminal    string            `json:"terminal,omitempty"` // device of the terminal, such as /dev/pts/3
	Reason      string            `json:"reason"`
	Elevated    bool              `json:"elevated,omitempty"`
	Permissions []string          `json:"permissions,omitempty"` // resolved
	Params      map[string]string `json:"params,omitempty"`
}

// UnmarshalJSON reads a Decision. Entries of earlier versions call the entry point "door".
func (d *Decision) UnmarshalJSON(b []byte) error {
	type plain Decision
	read := struct {
		*plain
		Door string `json:"door"`
	}{plain: (*plain)(d)}
	err := json.Unmarshal(b, &read)
	d.EntryPoint = cmp.Or(d.EntryPoint, read.Door)
	return err
}

// String returns the decision in one line. Texts in it are as a definition wrote them.
func (d Decision) String() string {
	s := fmt.Sprintf("%s by %s: %s", d.Action, strings.TrimSpace(d.By+" "+d.Terminal), d.Reason)
	if len(d.Permissions) > 0 {
		s += "; needs " + strings.Join(d.Permissions, ", ")
	}
	return s
}
