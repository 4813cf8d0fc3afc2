package dag

import (
	"fmt"
	"testing"
	"time"
)

// repeatTable says how a step with repeat ends.
func repeatTable(t *testing.T) string {
	asks := func(done, limit int) *repeatStep { return &repeatStep{done: done, max: limit, failures: true} }
	until := func(done, limit int) *repeatStep { return &repeatStep{done: done, max: limit} }
	inTime := func(r repeatStep) *repeatStep {
		r.every, r.timeout = 10*time.Second, 25*time.Second
		return &r
	}
	var rows [][]string
	for _, c := range []struct {
		rounds, holds string
		st            step
	}{
		{"succeed", "after the first", step{repeat: until(1, 3)}},
		{"succeed", "after the third", step{repeat: until(3, 3)}},
		{"succeed", "never", step{repeat: until(0, 3)}},
		{"succeed", "never", step{repeat: until(0, 3), fallback: "ok"}},
		{"succeed", "never", step{repeat: until(0, 3), tolerate: true}},
		{"succeed", "cannot be evaluated", step{repeat: &repeatStep{errs: true, max: 3}}},
		{"succeed", "after the third, in time", step{repeat: inTime(repeatStep{done: 3})}},
		{"succeed", "not in time", step{repeat: inTime(repeatStep{done: 4})}},
		{"succeed", "not in time", step{repeat: inTime(repeatStep{done: 4}), fallback: "ok"}},
		{"the second fails", "after the third", step{tries: []string{"ok", "fail", "ok"}, repeat: until(3, 3)}},
		{"the second fails", "after the third", step{tries: []string{"ok", "fail", "ok"}, repeat: asks(3, 3)}},
		{"the second fails once", "after the second", step{tries: []string{"ok", "fail", "ok"}, retries: 1, repeat: until(3, 3)}},
		{"the second times out", "after the third", step{tries: []string{"ok", "timeout", "ok"}, repeat: until(3, 3)}},
		{"the second times out", "after the third", step{tries: []string{"ok", "timeout", "ok"}, repeat: asks(3, 3)}},
		{"fail", "after the second", step{tries: []string{"fail"}, repeat: asks(2, 3)}},
		{"fail", "never", step{tries: []string{"fail"}, repeat: asks(0, 3)}},
		{"fail", "never", step{tries: []string{"fail"}, retries: 1, repeat: asks(0, 3)}},
		{"fail", "never", step{tries: []string{"fail"}, repeat: asks(0, 3), fallback: "ok"}},
		{"have their input rejected", "never", step{tries: []string{"permanent"}, repeat: asks(0, 3)}},
	} {
		st := c.st
		st.id = "a"
		s := played(t, []step{st}, Settings{})
		var r *Result
		s.All(func(_ ID, _ *Node, _ Status, res *Result) { r = res })
		rows = append(rows, []string{c.rounds, c.holds, yes(st.repeat.failures), fmt.Sprint(st.retries), or(st.fallback, "none"),
			"**" + describe(r.Status, r) + "**" + reasonOf(r), fmt.Sprint(r.ExitCode), fmt.Sprint(r.Attempts)})
	}
	return table([]string{"the rounds", "the condition holds", "it asks about failed rounds", "`attempts`", "fallback", "the step ends", "exit code", "attempts made"}, rows)
}

func reasonOf(r *Result) string {
	if r.Reason == "" {
		return ""
	}
	return " (" + r.Reason + ")"
}
