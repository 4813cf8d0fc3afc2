package interpreter

import (
	"errors"
	"fmt"
	"testing"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"

	"github.com/flowrun/flowrun/dag"
)

// How an activity is called on the pages of the server: its type is the step of the definition, its title the attempt of
// one item.
func TestNamesOfActivities(t *testing.T) {
	for _, c := range []struct {
		order       dag.Order
		name, title string
	}{
		{dag.Order{Kind: dag.OrderRun, Path: "build", Attempt: 1}, "build", "build"},
		{dag.Order{Kind: dag.OrderRun, Path: "each[a b]/build", Attempt: 3}, "each/build", "each[a b]/build#3"},
		{dag.Order{Kind: dag.OrderFallback, Path: "build", Attempt: 2}, "build", "build#2 (fallback)"},
		{dag.Order{Kind: dag.OrderBind, Path: "each"}, "each (arguments)", "each"},
		{dag.Order{Kind: dag.OrderComplete, Path: "each[1]"}, "each (output)", "each[1]"},
		{dag.Order{Kind: dag.OrderComplete}, "(output)", ""},
	} {
		if name, title := activityType(&c.order), title(&c.order); name != c.name || title != c.title {
			t.Errorf("%+v: %q and %q, want %q and %q", c.order, name, title, c.name, c.title)
		}
	}
}

// Only an attempt whose worker is gone may run again. All other errors of an activity end the run, with their message
// alone.
func TestIsLost(t *testing.T) {
	for _, c := range []struct {
		err     error
		lost    bool
		message string
	}{
		{temporal.NewTimeoutError(enums.TIMEOUT_TYPE_HEARTBEAT, nil), true, ""},
		{temporal.NewTimeoutError(enums.TIMEOUT_TYPE_START_TO_CLOSE, nil), false, ""},
		{temporal.NewTimeoutError(enums.TIMEOUT_TYPE_SCHEDULE_TO_START, nil), false, ""},
		{temporal.NewApplicationError("the worker stops", InterruptedType), true, "the worker stops"},
		{fmt.Errorf("activity: %w", temporal.NewApplicationError("the worker stops", InterruptedType)), true, "the worker stops"},
		{temporal.NewApplicationError("no such step", "other"), false, "no such step"},
		{errors.New("interrupted"), false, "interrupted"},
	} {
		if got := isLost(c.err); got != c.lost {
			t.Errorf("%v: %v", c.err, got)
		}
		if got := message(c.err); c.message != "" && got != c.message {
			t.Errorf("%v: the message is %q, want %q", c.err, got, c.message)
		}
	}
}

// A worker of a pool serves the queue of its pool, and takes no other for one.
func TestPoolOf(t *testing.T) {
	for _, c := range []struct {
		task, pool string
		ok         bool
	}{
		{PoolQueue("flowrun", "db"), "db", true}, {PoolQueue("flowrun", "a-pool-b"), "a-pool-b", true},
		{"flowrun", "flowrun", false}, {WaitQueue("flowrun"), WaitQueue("flowrun"), false}, {PoolQueue("other", "db"), PoolQueue("other", "db"), false},
	} {
		if pool, ok := PoolOf("flowrun", c.task); pool != c.pool || ok != c.ok {
			t.Errorf("%s: %q, %v", c.task, pool, ok)
		}
	}
}
