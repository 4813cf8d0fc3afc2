package dag

import (
	"bytes"
	"encoding/json"
	"testing"
)

// FuzzApply: the state applies any journal without a panic, can be continued from there,
// and ends.
func FuzzApply(f *testing.F) {
	steps := []step{
		{id: "a", tries: []string{"fail", "ok"}, retries: 1},
		{id: "j", join: true, after: []string{"a"}},
		{id: "n", after: []string{"j"}, retries: 1, fallback: "ok", bind: "ok", inner: []step{
			{id: "x", tries: []string{"timeout"}},
			{id: "y", after: []string{"x"}, when: "always()"},
		}},
		{id: "b", after: []string{"n"}, when: "success() || failure()"},
		{id: "l", loop: &loopStep{keys: make([]string, 3), numbered: true, parallel: 2,
			item: step{retries: 1, fallback: "ok", delay: 1}, words: [][]string{{"ok"}, {"fail"}, {"ok"}}}},
		{id: "m", tolerate: true, loop: &loopStep{keys: []string{"x", "y#2/z"}, words: make([][]string, 2), least: 1, item: step{retries: 1, inner: []step{
			{id: "x", loop: &loopStep{keys: []string{"", "1"}, hasty: true, words: [][]string{{"fail"}, {"ok"}}, item: step{when: "!cancelled()"}}},
			{id: "y", after: []string{"x"}},
		}}}},
		{id: "w", tries: []string{"later"}},
		{id: "q", retries: 1, fallback: "ok", loop: &loopStep{keys: make([]string, 3), numbered: true, words: [][]string{{"ask"}, {"ask-late"}, {"ask-fail"}}}},
	}
	g := surroundings{none: true}.graph(f, steps, Settings{FailFast: true, Timeout: 1e15})
	d := newDriver(f, g, 2, func(int) int { return 0 })
	d.run()
	for n := range d.log {
		var b bytes.Buffer
		for _, e := range d.log[:n+1] {
			line, err := json.Marshal(e)
			if err != nil {
				f.Fatal(err)
			}
			b.Write(append(line, '\n'))
		}
		f.Add(b.Bytes())
	}
	for _, lie := range lies {
		f.Add([]byte(lie))
	}
	f.Fuzz(func(t *testing.T, lines []byte) {
		s := NewState("run", g, nil)
		dec := json.NewDecoder(bytes.NewReader(lines))
		for {
			var e Event
			if dec.Decode(&e) != nil {
				break
			}
			s.Apply(e)
		}
		d := newDriver(t, g, 2, func(int) int { return 0 })
		d.lenient = true
		d.resume(s)
		d.run()
		states(d.state)
	})
}

// lies are journals that report loops what cannot have been.
var lies = []string{
	// items without end, then too many, then fewer than none
	`{"kind":"run.started"}{"kind":"step.started","node":"l"}{"kind":"step.expanded","node":"l","items":1000000}{"kind":"step.started","node":"l[999999]"}`,
	`{"kind":"run.started"}{"kind":"step.started","node":"l"}{"kind":"step.expanded","node":"l","items":9000000000000000000}`,
	`{"kind":"run.started"}{"kind":"step.started","node":"l"}{"kind":"step.expanded","node":"l","items":-5}{"kind":"step.finished","node":"l[-1]","result":{"status":"failed","exit_code":1}}`,
	// the same key twice, keys that cannot be, keys where there were numbers
	`{"kind":"run.started"}{"kind":"step.started","node":"l"}{"kind":"step.expanded","node":"l","keys":["a","a"]}{"kind":"step.started","node":"l[a]"}{"kind":"step.retrying","node":"l[a]","result":{"status":"failed","exit_code":1}}`,
	`{"kind":"run.started"}{"kind":"step.started","node":"m"}{"kind":"step.expanded","node":"m","keys":["[","]/x"]}{"kind":"step.started","node":"m[[]"}{"kind":"step.started","node":"m[]/x]"}`,
	// twice, and the second time otherwise
	`{"kind":"run.started"}{"kind":"step.started","node":"l"}{"kind":"step.expanded","node":"l","items":3}{"kind":"step.started","node":"l[2]"}{"kind":"step.expanded","node":"l","items":1}`,
	// of what is not a loop, of a loop that never began, of none at all, of one that has ended
	`{"kind":"run.started"}{"kind":"step.started","node":"n"}{"kind":"step.expanded","node":"n","items":3}{"kind":"step.started","node":"n[1]"}{"kind":"step.expanded","node":"a","items":3}`,
	`{"kind":"step.expanded","node":"l","items":3}{"kind":"step.started","node":"l[1]"}{"kind":"step.expanded","node":"zz","items":3}{"kind":"step.expanded","items":3}`,
	`{"kind":"run.started"}{"kind":"step.started","node":"l"}{"kind":"step.finished","node":"l","result":{"status":"succeeded","exit_code":0}}{"kind":"step.expanded","node":"l","items":3}`,
	// waits of what never began, of a loop, without end, twice, and of what then runs, is retried or ends
	`{"kind":"run.started"}{"kind":"step.waiting","node":"w","result":{"status":"waiting","wait":{"kind":"time"}}}{"kind":"step.started","node":"q"}{"kind":"step.waiting","node":"q","result":{"status":"waiting","wait":{"kind":"time","until":"2001-01-01T00:00:00Z"}}}`,
	`{"kind":"run.started"}{"kind":"step.started","node":"w"}{"seq":9,"kind":"step.waiting","node":"w","result":{"wait":{"kind":"ok","asks":true}}}{"kind":"step.waiting","node":"w"}{"kind":"step.waiting","node":"w","result":{"wait":{"kind":"time","until":"2001-01-01T00:00:00Z"}}}{"kind":"step.fallback","node":"w","result":{"status":"failed"}}`,
	`{"kind":"run.started"}{"kind":"step.started","node":"a"}{"kind":"step.waiting","node":"a","result":{"wait":{"until":"9999-01-01T00:00:00Z"}}}{"kind":"step.retrying","node":"a"}{"kind":"step.started","node":"a","attempt":2}{"kind":"step.waiting","node":"a","result":{"wait":{"until":"2001-01-01T00:00:00Z","then":{"status":"waiting","wait":{"asks":true}}}}}{"kind":"run.cancelling","reason":"forced"}{"kind":"run.resumed","reset":["a"]}`,
	// items that do not exist, that begin before the loop knows them, that end before they begin
	`{"kind":"run.started"}{"kind":"step.started","node":"l"}{"kind":"step.started","node":"l[0]"}{"kind":"step.expanded","node":"l","items":3}{"kind":"step.started","node":"l[3]"}{"kind":"step.finished","node":"l[2]","result":{"status":"succeeded","exit_code":0}}`,
	// a loop that ends before its items, and one whose items ended and it did not
	`{"kind":"run.started"}{"kind":"step.started","node":"l"}{"kind":"step.expanded","node":"l","items":3}{"kind":"step.started","node":"l[0]"}{"kind":"step.finished","node":"l","result":{"status":"failed","exit_code":1}}{"kind":"run.resumed","reset":["l[0]","l[9]"]}`,
	`{"kind":"run.started"}{"kind":"step.started","node":"l"}{"kind":"step.expanded","node":"l","items":1}{"kind":"step.finished","node":"l[0]","result":{"status":"failed","exit_code":1}}`,
	// kinds that are never recorded
	`{"kind":"run.owned"}{"kind":"run.started"}{"kind":"step.ending"}{"kind":"step.started","node":"n"}{"kind":"step.bound","node":"n"}{"kind":"step.ending","node":"n"}`,
	// an item, and a step of one, is retried and cancelled
	`{"kind":"run.started"}{"kind":"step.started","node":"m"}{"kind":"step.expanded","node":"m","keys":["x","y#2/z"]}{"kind":"step.started","node":"m[y#2/z]","attempt":7}{"kind":"step.started","node":"m[y#2/z]/x"}{"kind":"step.expanded","node":"m[y#2/z]/x","items":1000000}{"kind":"run.cancelling","node":"m[y#2/z]","reason":"timeout"}{"kind":"step.retrying","node":"m[y#2/z]","attempt":7}`,
	`{"kind":"run.started"}{"kind":"step.started","node":"l"}{"kind":"step.expanded","node":"l","items":3}{"kind":"step.retrying","node":"l"}{"kind":"step.started","node":"l","attempt":2}{"kind":"step.started","node":"l#2[0]"}`,
}
