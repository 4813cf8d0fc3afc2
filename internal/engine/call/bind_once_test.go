package call_test

import (
	"context"
	"testing"

	"github.com/flowrun/flowrun/internal/engine/call"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/js/jsrun"
)

// counter is a transform that counts its calls.
type counter struct{ calls int }

func (c *counter) Apply(_ context.Context, _ *jsrun.Runtime, v any) (any, error) {
	c.calls++
	return v, nil
}

func (*counter) IsConstant(any) bool { return false }

// TestTransformsRunOnce: a call transforms each value once, and one that cannot run transforms nothing.
func TestTransformsRunOnce(t *testing.T) {
	p := planOf(t, `
parameters:
  A: {description: a, transform: value.trim()}
  B: {description: b, required: true}
bash: echo {A} {B}
`)
	var c counter
	p.Param("A").JS = &c
	for _, test := range []struct {
		name  string
		bind  func(map[string]any) error
		given map[string]any
		valid bool
		calls int
	}{
		{"a call", bind(p), map[string]any{"A": "x", "B": "y"}, true, 1},
		{"a required parameter is missing", bind(p), map[string]any{"A": "x"}, false, 0},
		{"a check", check(p), map[string]any{"A": "x", "B": "y"}, true, 0},
		{"a check of a value that only the transform makes valid", check(p), map[string]any{"A": "-x", "B": "y"}, true, 0},
		{"a check without a required parameter", check(p), map[string]any{"A": "x"}, false, 0},
	} {
		c.calls = 0
		if err := test.bind(test.given); (err == nil) != test.valid {
			t.Errorf("%s: %v", test.name, err)
		}
		if c.calls != test.calls {
			t.Errorf("%s: %d calls, want %d", test.name, c.calls, test.calls)
		}
	}
}

func bind(p *plan.Plan) func(map[string]any) error {
	return func(raw map[string]any) error {
		_, err := call.Bind(context.Background(), p, (&call.RunEnv{}).Filled(), raw)
		return err
	}
}

func check(p *plan.Plan) func(map[string]any) error {
	return func(raw map[string]any) error {
		given := map[string]call.Given{}
		for name, v := range raw {
			given[name] = call.Given{V: v}
		}
		return call.Check(p, (&call.RunEnv{}).Filled(), given)
	}
}
