package expr

// Watch is a scope that records whose values it returned. What is computed from a caller's value, as a default, a with
// value or the items of a loop, counts as the caller's too.
type Watch struct {
	Scope
	Caller bool // it returned a value of the caller

	noDash bool // one that must not begin with "-"
}

// Lookup implements Scope.
func (w *Watch) Lookup(r Ref) (Value, error) {
	v, err := w.Scope.Lookup(r)
	w.Add(v)
	return v, err
}

// Add records a value as Lookup does.
func (w *Watch) Add(v Value) {
	w.Caller = w.Caller || v.Caller
	w.noDash = w.noDash || v.Caller && !v.AllowDash
}

// Value returns a value that was computed from those that w returned. It may begin with "-" if all of them may.
func (w *Watch) Value(v any) Value {
	return Value{V: v, Author: !w.Caller, Caller: w.Caller, AllowDash: w.Caller && !w.noDash}
}
