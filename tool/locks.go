package tool

import (
	"fmt"

	"gopkg.in/yaml.v3"

	"github.com/flowrun/flowrun/internal/diagnostic"
	"github.com/flowrun/flowrun/internal/keytable"
)

// Lock is a named lock that a limited number of runs can hold at once, on one machine.
type Lock struct {
	Name  Text
	Slots int
}

// lockName matches valid names of locks. Placeholders are not allowed: a run's locks must be known before the run is
// queued, when nothing has been evaluated.
var lockName = diagnostic.Pattern(`^[A-Za-z0-9_.-]{1,128}$`)

var lockObject = keytable.NewObject("a lock", "A lock that a limited number of runs can hold at once.", func() []keytable.Field {
	return []keytable.Field{
		keytable.Text("name", "", "Name of the lock. All tools that list it share the lock.", func(l *Lock, v Text) { l.Name = v }).AsRequired(),
		keytable.Integer("slots", "", 1, 1<<20, "How many runs can hold the lock at once, including this one.", func(l *Lock, v int) { l.Slots = v }).WithDefault("1"),
	}
}).WithCheck(func(d *keytable.Decoder, _ any, n *yaml.Node, content []*yaml.Node) {
	if keytable.ValueOf(content, "name") == nil {
		d.Fail(n, "no-name", "the lock has no name", "add 'name:', or write only the name")
	}
})

// locksField returns the field for a list of locks. A bare name is a lock with one slot.
func locksField() keytable.Field {
	return keytable.Mixed("locks", "", lockObject, "Locks that a run acquires when it starts, all at once, and holds until it ends.",
		func(t *draft) *Lock { return add(&t.Locks, Lock{Slots: 1}) }, func(l *Lock, v Text) { l.Name = v })
}

// checkLocks reports invalid names of locks, and locks that are listed twice.
func checkLocks(d *keytable.Decoder, t *draft, content []*yaml.Node) {
	first := map[string]Text{}
	for i, l := range t.Locks {
		one := Diagnostic{Severity: Error, Pos: l.Name.Pos, Len: max(1, len([]rune(l.Name.S))), Path: fmt.Sprintf("locks[%d]", i)}
		before, twice := first[l.Name.S]
		switch {
		case l.Name.Pos.Line == 0: // the field has already reported it
			continue
		case !lockName().MatchString(l.Name.S):
			one.Code, one.Message = "bad-name", fmt.Sprintf("%s cannot be the name of a lock", diagnostic.Quote(l.Name.S))
			one.Hint = "use up to 128 letters, digits, '_', '.' and '-'; placeholders are not allowed"
		case twice:
			one.Code, one.Message = "duplicate-lock", fmt.Sprintf("lock %s is listed twice", diagnostic.Quote(l.Name.S))
			one.Hint = "keep one of the two; slots sets how many runs can hold the lock"
			one.Related = []Place{{Pos: before.Pos, Len: len([]rune(before.S)), Message: "first listed here"}}
		default:
			first[l.Name.S] = l.Name
			continue
		}
		d.Report(one)
	}
}
