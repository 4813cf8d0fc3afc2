package tool

import (
	"fmt"

	"gopkg.in/yaml.v3"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/keytable"
)

// Lock is a named lock that a limited number of runs, or steps, can hold at once, on one machine.
type Lock struct {
	Name  Text
	Slots int
}

// Claim is what each attempt of a step holds while it runs, and shares with other steps and runs.
type Claim struct {
	Pool     *PoolUse // nil = none
	Locks    []Lock
	Priority int // among the steps that wait for the pool or a lock
}

// claim returns what the attempts of the step hold, to be filled.
func (s *Step) claim() *Claim {
	if s.Claim == nil {
		s.Claim = &Claim{}
	}
	return s.Claim
}

// PoolUse is how many slots of a pool each attempt of a step holds. The settings say how many there are.
type PoolUse struct {
	Name  Text
	Slots int
}

var poolObject = keytable.NewObject("a pool", "Slots of a pool that each attempt of a step holds while it runs.", func() []keytable.Field {
	return []keytable.Field{
		keytable.Text("name", "", "Name of the pool in the settings.", func(p *PoolUse, v Text) { p.Name = v }).AsRequired(),
		keytable.Integer("slots", "", 1, 1<<20, "How many slots an attempt holds.", func(p *PoolUse, v int) { p.Slots = v }).WithDefault("1"),
	}
}).WithCheck(func(d *keytable.Decoder, _ any, n *yaml.Node, content []*yaml.Node) {
	if keytable.ValueOf(content, "name") == nil {
		d.Fail(n, "no-name", "the pool has no name", "add 'name:', or write only the name")
	}
})

// claimFields returns the keys with which a step, or a tool with a single command, shares what runs share.
func claimFields[T any](step func(*T) *Step) []keytable.Field {
	return []keytable.Field{
		textOr("pool", "", poolObject, "Pool of which each attempt holds a slot while it runs. The settings say how many slots it has.", func(t *T) *PoolUse {
			p := &PoolUse{Slots: 1}
			step(t).claim().Pool = p
			return p
		}, func(p *PoolUse, v Text) { p.Name = v }),
		keytable.Integer("priority", "", -1000, 1000, "Among the steps that wait for the same pool or lock, those with a higher priority come first.", func(t *T, v int) { step(t).claim().Priority = v }).WithDefault("0"),
	}
}

// stepLocksField returns the field for the locks of a step.
func stepLocksField() keytable.Field {
	return keytable.Mixed("locks", "", lockObject, "Locks that each attempt acquires before it starts, all at once, and holds while it runs.",
		func(s *Step) *Lock { return add(&s.claim().Locks, Lock{Slots: 1}) }, func(l *Lock, v Text) { l.Name = v })
}

// checkToolClaim checks pool and priority of a tool: only one with a single command has them.
func checkToolClaim(d *keytable.Decoder, t *Draft, content []*yaml.Node) {
	if t.Alias { // checkAlias reports them
		return
	}
	if len(t.Steps) == 0 {
		checkClaim(d, &t.single, content)
		return
	}
	for _, key := range []string{"pool", "priority"} {
		if k := keytable.KeyOf(content, key); k != nil {
			d.FailKey(k, "no-effect", key+" has no effect on a tool that has steps", "add it to the steps that need it")
		}
	}
}

// checkClaim checks pool, priority and locks of a step, or of a tool with a single command.
func checkClaim(d *keytable.Decoder, s *Step, content []*yaml.Node) {
	held := s.Claim
	if held == nil {
		return
	}
	if p := held.Pool; p != nil && p.Name.Pos.Line > 0 && !lockName().MatchString(p.Name.S) {
		d.Report(Diagnostic{Severity: Error, Code: "bad-name", Pos: p.Name.Pos, Len: max(1, len([]rune(p.Name.S))), Path: "pool",
			Message: fmt.Sprintf("%s cannot be the name of a pool", diagnostic.Quote(p.Name.S)), Hint: "use up to 128 letters, digits, '_', '.' and '-'; placeholders are not allowed"})
	}
	if key := keytable.KeyOf(content, "priority"); key != nil && held.Pool == nil && len(held.Locks) == 0 {
		d.FailKey(key, "no-effect", "priority has no effect without pool or locks", "add 'pool:' with the pool that the step shares with others, or remove priority")
	}
	checkLocks(d, held.Locks)
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
		func(t *Draft) *Lock { return add(&t.Locks, Lock{Slots: 1}) }, func(l *Lock, v Text) { l.Name = v })
}

// checkLocks reports invalid names of locks, and locks that are listed twice.
func checkLocks(d *keytable.Decoder, locks []Lock) {
	first := map[string]Text{}
	for i, l := range locks {
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
