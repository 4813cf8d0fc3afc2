package sqlite

import (
	"database/sql"
	"encoding/json"
	"time"

	"github.com/flowrun/flowrun/internal/os/procid"
)

// owner is what the history stores about a run's last owner.
type owner struct {
	process sql.NullString // JSON of a procid.Identity; not valid if the owner gave up
	boot    string
	lease   int64 // ns of procid.Uptime in that boot
}

// lives reports whether the owner may still write: it has not given up the run, is not
// dead, and its lease has not expired.
func (o owner) lives() bool {
	id, ok := o.identity()
	return ok && id.State() != procid.Dead && procid.Uptime() < time.Duration(o.lease)
}

// identity returns the process of the owner; ok is false if there is none.
func (o owner) identity() (id procid.Identity, ok bool) {
	ok = o.process.Valid && json.Unmarshal([]byte(o.process.String), &id) == nil
	return id, ok
}

// gone reports whether others may take what the owner held, because it has given up the run
// or is dead. An owner that is stopped, for example with Ctrl-Z, is not gone: its steps may
// be running. If the state of its process cannot be found out, the lease decides, and
// lapsed is true if it has expired.
func (o owner) gone() (gone, lapsed bool) {
	id, ok := o.identity()
	if !ok {
		return true, false
	}
	return o.judgeState(id.State())
}

// judgeState does the same for an owner whose process has that state.
func (o owner) judgeState(state procid.Liveness) (gone, lapsed bool) {
	lapsed = state == procid.Unknown && procid.Uptime() >= time.Duration(o.lease)
	return state == procid.Dead || lapsed, lapsed
}

// rebooted reports whether the machine was restarted since the owner wrote.
func (o owner) rebooted() bool { return o.boot != procid.BootID() }

// ownership returns the columns owner, boot, lease and alive for a run that this process owns.
func (s *Store) ownership() (process, boot string, lease, alive int64) {
	text, _ := json.Marshal(s.self) // numbers and strings only, cannot fail
	return string(text), s.self.Boot, int64(procid.Uptime() + leaseLength), time.Now().UnixNano()
}
