package dag

import (
	"bytes"
	"encoding/json"
	"testing"
)

// FuzzApply: whatever a journal says, the state takes it without a panic, can be
// carried on from there, and comes to an end.
func FuzzApply(f *testing.F) {
	steps := []step{
		{id: "a", tries: []string{"fail", "ok"}, retries: 1},
		{id: "j", join: true, after: []string{"a"}},
		{id: "n", after: []string{"j"}, retries: 1, fallback: "ok", bind: "ok", inner: []step{
			{id: "x", tries: []string{"timeout"}},
			{id: "y", after: []string{"x"}, when: "always()"},
		}},
		{id: "b", after: []string{"n"}, when: "success() || failure()"},
	}
	g := graphOf(f, steps, Settings{FailFast: true, Timeout: 1e15})
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
