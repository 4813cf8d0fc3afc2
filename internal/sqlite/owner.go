package sqlite

import (
	"database/sql"
	"encoding/json"
	"time"

	"github.com/flowrun/flowrun/internal/procid"
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
	id, ok := o.identity()
	return ok && id.State() != procid.Dead && procid.Uptime() < time.Duration(o.lease)
}

// identity is the owner's process, if there is an owner.
func (o owner) identity() (id procid.Identity, ok bool) {
	ok = o.process.Valid && json.Unmarshal([]byte(o.process.String), &id) == nil
	return id, ok
}

// gone says whether what the owner held may be given to others: it has given the run up
// or is dead. One that is stopped, as by Ctrl-Z, keeps it: its steps may be running.
// Where nothing can be told of its process, the lease decides: then lapsed is true.
func (o owner) gone() (gone, lapsed bool) {
	id, ok := o.identity()
	if !ok {
		return true, false
	}
	return o.judgeState(id.State())
}

// judgeState is gone for an owner whose process is in that state.
func (o owner) judgeState(state procid.Liveness) (gone, lapsed bool) {
	lapsed = state == procid.Unknown && procid.Uptime() >= time.Duration(o.lease)
	return state == procid.Dead || lapsed, lapsed
}

// rebooted says whether the machine was started anew since the owner wrote.
func (o owner) rebooted() bool { return o.boot != procid.BootID() }

// ownership are the columns owner, boot and lease of a run this process owns.
func (s *Store) ownership() (process, boot string, lease int64) {
	text, _ := json.Marshal(s.self) // numbers and strings only: cannot fail
	return string(text), s.self.Boot, int64(procid.Uptime() + leaseLength)
}
