package sqlite

import (
	"database/sql"
	"encoding/json"
	"time"

	"github.com/flowrun/flowrun/internal/proc"
)

// owner is what the history knows of a run's last owner.
type owner struct {
	process sql.NullString // JSON of a proc.Identity; not valid: given up
	boot    string
	lease   int64 // ns of proc.Uptime in that boot
}

// lives says whether the owner may still write: it has not given the run up, is not
// dead, and is not silent for so long that it counts as stopped.
func (o owner) lives() bool {
	var id proc.Identity
	if !o.process.Valid || json.Unmarshal([]byte(o.process.String), &id) != nil {
		return false
	}
	return id.State() != proc.Dead && proc.Uptime() < time.Duration(o.lease)
}

// rebooted says whether the machine was started anew since the owner wrote.
func (o owner) rebooted() bool { return o.boot != proc.BootID() }

// ownership are the columns owner, boot and lease of a run this process owns.
func (s *Store) ownership() (process, boot string, lease int64) {
	text, _ := json.Marshal(s.self) // numbers and strings only: cannot fail
	return string(text), s.self.Boot, int64(proc.Uptime() + leaseLength)
}
