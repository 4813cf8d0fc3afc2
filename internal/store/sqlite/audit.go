package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"os"
	"os/user"
	"strconv"
	"sync"
	"time"

	"github.com/flowrun/flowrun/history"
)

// Entry is one entry of the audit list: who did what, and when.
type Entry struct {
	N      int64 // grows from entry to entry
	At     time.Time
	Who    string // name of the user, or the number if there is no name
	Action string // one word, such as "cancel"
	Run    string // "" if the entry is not about a run
	Detail string // for people
}

// Audit is the audit list. It is never shortened.
type Audit struct{ db *db }

// Audit returns the audit list of this history.
func (s *Store) Audit() Audit { return Audit{s.db} }

// Add adds an entry, for the person of history.WithActor or else for the user of
// this process. Claim, Cancel and Prune add their own entries, and so does Begin if there is such a
// person.
func (a Audit) Add(ctx context.Context, action, run, detail string) error {
	return a.db.write(ctx, "record "+action+" in the audit log", func(ctx context.Context, c *conn) error {
		return addAudit(ctx, c, action, run, detail)
	})
}

// Has reports whether there is an equal entry.
func (a Audit) Has(ctx context.Context, action, run, detail string) (bool, error) {
	found, err := list(ctx, a.db, "read the audit log", scanColumn[int], "SELECT 1 FROM audit WHERE action = ? AND run = ? AND detail = ? LIMIT 1", action, run, detail)
	return len(found) > 0, err
}

// AddOnce adds an entry unless there is an equal one, whoever added that. first reports whether it was added: of several
// processes that add it at the same time, only one gets true.
func (a Audit) AddOnce(ctx context.Context, action, run, detail string) (first bool, err error) {
	err = a.db.write(ctx, "record "+action+" in the audit log", func(ctx context.Context, c *conn) error {
		n, err := c.change(ctx, "INSERT INTO audit (at, who, action, run, detail) SELECT ?1, ?2, ?3, ?4, ?5 WHERE NOT EXISTS (SELECT 1 FROM audit WHERE action = ?3 AND run = ?4 AND detail = ?5)",
			time.Now().UnixNano(), actor(ctx), action, run, detail)
		first = n > 0
		return err
	})
	return first, err
}

func addAudit(ctx context.Context, c *conn, action, run, detail string) error {
	_, err := c.ExecContext(ctx, "INSERT INTO audit (at, who, action, run, detail) VALUES (?, ?, ?, ?, ?)",
		time.Now().UnixNano(), actor(ctx), action, run, detail)
	return err
}

// AuditQuery selects entries. The zero AuditQuery selects all of them.
type AuditQuery struct {
	Who, Action, Run string    // "" selects all
	Since, Until     time.Time // from Since, before Until; zero means any time
	Before           int64     // only entries whose N is lower; 0 selects all
	Limit            int       // at most so many, 0 means all
}

// Entries returns the entries that a query selects, newest first.
func (a Audit) Entries(ctx context.Context, q AuditQuery) ([]Entry, error) {
	where, args := []string{}, []any{}
	add := func(wanted bool, condition string, arg any) {
		if wanted {
			where, args = append(where, condition), append(args, arg)
		}
	}
	add(q.Who != "", "who = ?", q.Who)
	add(q.Action != "", "action = ?", q.Action)
	add(q.Run != "", "run = ?", q.Run)
	add(!q.Since.IsZero(), "at >= ?", q.Since.UnixNano())
	add(!q.Until.IsZero(), "at < ?", q.Until.UnixNano())
	add(q.Before > 0, "n < ?", q.Before)
	limit := -1
	if q.Limit > 0 {
		limit = q.Limit
	}
	return list(ctx, a.db, "read the audit log", func(rows *sql.Rows, e *Entry) error {
		var at int64
		err := rows.Scan(&e.N, &at, &e.Who, &e.Action, &e.Run, &e.Detail)
		e.At = time.Unix(0, at)
		return err
	}, "SELECT n, at, who, action, run, detail FROM audit"+join(where)+" ORDER BY n DESC LIMIT ?", append(args, limit)...)
}

// actor returns who makes a change.
func actor(ctx context.Context) string { return cmp.Or(history.ActorOf(ctx), userName()) }

var userName = sync.OnceValue(func() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	return strconv.Itoa(os.Getuid())
})

// UserName returns the user of this process as records name it.
func UserName() string { return userName() }
