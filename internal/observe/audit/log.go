// Package audit makes the document flowrun/audit.v1: who did what, and when, from the audit log of a history. All entry
// points return it in the same form. It does not know who may read it.
package audit

import (
	"context"
	"encoding/json"
	"time"

	"github.com/flowrun/flowrun/internal/store/sqlite"
)

// Log is an audit log. It is implemented by sqlite.Audit.
type Log interface {
	Entries(ctx context.Context, q sqlite.AuditQuery) ([]sqlite.Entry, error)
}

// Document is the document flowrun/audit.v1.
type Document struct {
	Schema  string  `json:"schema"`
	Entries []Entry `json:"entries"`        // the newest first
	Next    int64   `json:"next,omitempty"` // AuditQuery.Before of the entries that follow
}

// Entry is one entry in it.
type Entry struct {
	At       time.Time `json:"at"`
	Who      string    `json:"who"`
	Action   string    `json:"action"`
	Run      string    `json:"run,omitempty"`
	Detail   string    `json:"detail"`
	Decision *Decision `json:"decision,omitempty"` // of Approve and Refuse
}

// EntryOf converts an entry, and decodes its decision if it has one.
func EntryOf(e sqlite.Entry) Entry {
	j := Entry{At: e.At.UTC(), Who: e.Who, Action: e.Action, Run: e.Run, Detail: e.Detail}
	if e.Action == Approve || e.Action == Refuse {
		var d Decision
		if json.Unmarshal([]byte(e.Detail), &d) == nil {
			j.Decision, j.Detail = &d, d.String()
		}
	}
	return j
}

// Read returns the entries that a query selects. Next is set if there may be more than its Limit.
func Read(ctx context.Context, log Log, q sqlite.AuditQuery) (Document, error) {
	list, err := log.Entries(ctx, q)
	doc := Document{Schema: "flowrun/audit.v1", Entries: []Entry{}}
	for _, e := range list {
		doc.Entries = append(doc.Entries, EntryOf(e))
	}
	if q.Limit > 0 && len(list) == q.Limit {
		doc.Next = list[len(list)-1].N
	}
	return doc, err
}
