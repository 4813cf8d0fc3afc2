package graph

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/call"
	"github.com/flowrun/flowrun/internal/engine/keptstate"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/lang/rawtext"
)

// Item returns the arguments of the item with the given key before a run, or nil if there is none. It fails if the
// items depend on results of the run.
func Item(l *plan.Loop, a *call.Frame, key string) (*call.Frame, error) {
	items, err := ListItems(l, call.Scope{Frame: a})
	if err != nil {
		return nil, a.WithoutSecrets(err)
	}
	items.args = a
	if items.keys, err = keys(l, items, dag.View{}); err != nil {
		return nil, a.WithoutSecrets(err)
	}
	for i := range items.list {
		if items.keys == nil && key == strconv.Itoa(i) || items.keys != nil && items.keys[i] == key {
			return call.FrameOf(items.Args(i)), nil
		}
	}
	return nil, nil
}

// loopNode returns the loop for the graph. body is the node that runs for each item.
func loopNode(s *plan.Step, body dag.Node) *dag.Each {
	body.Policy.Tolerate = false // the loop as a whole is tolerated instead
	if s.Loop.When {
		body.When = condition(s)
	}
	d := s.Loop.Def
	return &dag.Each{Items: func(p1 context.Context, c *dag.Call) (dag.Items, error) { return items(s, p1, c) }, Item: body, Parallel: d.MaxParallel, MinSuccess: d.MinSuccess, FailFast: d.FailFast,
		Keep: s.Loop.Keep, Gather: func(v dag.View, items []*dag.Result, r *dag.Result) { gatherOutput(s, v, items, r) }}
}

// items computes the items of the loop. It runs in a worker.
func items(s *plan.Step, _ context.Context, c *dag.Call) (dag.Items, error) {
	a := call.FrameOf(c.Args())
	items, err := ListItems(s.Loop, call.Scope{View: c.View, Frame: a})
	if err != nil {
		return nil, a.WithoutSecrets(err)
	}
	items.args = a
	if items.keys, err = keys(s.Loop, items, c.View); err != nil {
		return nil, a.WithoutSecrets(err)
	}
	if session := a.Session(); session != nil {
		session.NotifyLimit(c.Path, s.Loop.Def.MaxParallel, len(items.list))
	}
	return items, nil
}

// loopItems are the items of one execution of a loop. They implement dag.Items.
type loopItems struct {
	loop *plan.Loop
	args *call.Frame
	list []plan.Item
	keys []string
}

func (l *loopItems) Len() int { return len(l.list) }

func (l *loopItems) Keys() []string { return l.keys }

// Digest returns a checksum of the items with secrets masked, or "" if an item cannot be encoded as JSON.
func (l *loopItems) Digest() string {
	sum := sha256.New()
	enc := json.NewEncoder(sum)
	for _, item := range l.list {
		if err := enc.Encode(rawtext.EncodeValue(l.args.Session().Mask().Value(item.V))); err != nil {
			return "" // without JSON, the items cannot be compared
		}
	}
	return "sha256:" + hex.EncodeToString(sum.Sum(nil))
}

// Args returns the arguments of the tool with the item in scope.
func (l *loopItems) Args(i int) dag.Args {
	return l.args.WithItem(l.loop, l.list[i], i)
}

// ListItems computes the items.
func ListItems(l *plan.Loop, sc call.Scope) (*loopItems, error) {
	list, err := call.LoopItems(l, call.UntruncatedScope{Scope: sc})
	if err != nil {
		return nil, err
	}
	return &loopItems{loop: l, list: list}, nil
}

// keys returns the keys of the items; nil means their numbers.
func keys(l *plan.Loop, items *loopItems, v dag.View) ([]string, error) {
	if l.Key == nil && l.Matrix == nil {
		return nil, nil
	}
	keys := make([]string, items.Len())
	for i, item := range items.list {
		keys[i] = item.Key
		if l.Key != nil {
			text, err := l.Key.Text(call.Scope{View: v, Frame: call.FrameOf(items.Args(i))})
			if err != nil {
				return nil, fmt.Errorf("cannot compute the key of item %d: %w", i, err)
			}
			keys[i] = text
		}
	}
	for i, key := range keys {
		keys[i] = cleanKey(items.args.Session().Mask().String(key))
	}
	if l.Matrix != nil {
		makeUnique(keys)
	}
	return keys, nil
}

// makeUnique appends numbers to equal keys, from the second one on: x, x-2, x-3. Numbers that would produce the key of
// another item are skipped.
func makeUnique(keys []string) {
	taken := make(map[string]bool, len(keys))
	for _, key := range keys {
		taken[key] = true
	}
	last := make(map[string]int, len(keys)) // last number used, by key
	for i, key := range keys {
		n := last[key] + 1
		for n > 1 && taken[key+"-"+strconv.Itoa(n)] {
			n++
		}
		if last[key] = n; n > 1 {
			keys[i] = key + "-" + strconv.Itoa(n)
			taken[keys[i]] = true
		}
	}
}

// cleanKey makes a key valid in brackets and on one line. Long keys are cut and get a checksum.
func cleanKey(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '[':
			return '('
		case r == ']':
			return ')'
		case unicode.IsControl(r) || r == unicode.ReplacementChar || unicode.Is(unicode.Bidi_Control, r):
			return '_'
		}
		return r
	}, s)
	const maxLen = 120
	if len(s) > maxLen {
		sum := sha256.Sum256([]byte(s))
		s = strings.ToValidUTF8(s[:maxLen], "") + "~" + hex.EncodeToString(sum[:4])
	}
	return s
}

// gatherOutput writes the loop's output: a JSON array of the outputs of all items, in order. An item that did not run is
// null.
func gatherOutput(s *plan.Step, v dag.View, items []*dag.Result, r *dag.Result) {
	a := call.FrameOf(v.Args())
	if a.Plan.KeepsState {
		defer func() { keptstate.Gather(r, slices.Values(items)) }()
	}
	gatherArtifacts(items, r)
	for i, it := range items {
		passFailedCleanup(r, it, fmt.Sprintf("item %d: ", i))
	}
	gatherOutputs(s, a, items, r)
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	cut := false
	for i, it := range items {
		b.WriteString([...]string{"[", ","}[min(i, 1)])
		switch {
		case !call.Began(it):
			b.WriteString("null")
		case it.Stdout == nil:
			b.WriteString(`""`)
		default:
			cut = cut || it.Stdout.Truncated
			enc.Encode(call.Text(it.Stdout).V) // encoding a string cannot fail
			b.Truncate(b.Len() - 1)            // the newline of Encode
		}
	}
	if len(items) == 0 {
		b.WriteByte('[')
	}
	b.WriteString("]\n") // a reference strips the newline
	out, err := a.Session().Text(v.Path(), 1, b.String())
	if err == nil {
		r.Stdout = out
		out.Truncated = out.Truncated || cut
		return
	}
	if r.Status == dag.Succeeded {
		r.Status, r.ExitCode, r.Reason = dag.Failed, 1, "output"
		r.Message = a.Session().Mask().String(fmt.Sprintf("cannot write the loop's output: %v", err))
	}
}

// gatherArtifacts sets the artifacts of a loop: for each name, the paths of its items, in order.
func gatherArtifacts(items []*dag.Result, r *dag.Result) {
	at := map[string]int{}
	var list []dag.Artifact
	for _, it := range items {
		if it == nil {
			continue
		}
		for _, a := range it.Artifacts() {
			i, known := at[a.Name]
			if !known {
				i = len(list)
				at[a.Name], list = i, append(list, dag.Artifact{Name: a.Name})
			}
			if paths := &list[i].Paths; a.Path != "" {
				*paths = append(*paths, a.Path)
			} else {
				*paths = append(*paths, a.Paths...)
			}
		}
	}
	if len(list) > 0 {
		r.SetArtifacts(list)
	}
}
