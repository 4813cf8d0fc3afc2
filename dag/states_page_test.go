package dag

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestStatesPage holds the tables of docs/explanation/states.md against what the engine does:
// every cell comes from a run. -update writes them anew.
func TestStatesPage(t *testing.T) {
	comparePage(t, "../docs/explanation/states.md", map[string]func(*testing.T) string{
		"conditions": conditionTable,
		"upstreams":  upstreamTable,
		"policies":   policyTable,
		"runs":       runTable,
		"loops":      loopTable,
	})
}

// TestPollingPage does the same for docs/reference/polling.md.
func TestPollingPage(t *testing.T) {
	comparePage(t, "../docs/reference/polling.md", map[string]func(*testing.T) string{"repeat": repeatTable})
}

func comparePage(t *testing.T, page string, tables map[string]func(*testing.T) string) {
	t.Helper()
	b, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	mark := regexp.MustCompile(`(?s)<!-- table (\w+) -->\n.*?<!-- end -->`)
	drawn := 0
	got := mark.ReplaceAllStringFunc(string(b), func(old string) string {
		name := mark.FindStringSubmatch(old)[1]
		draw, ok := tables[name]
		if !ok {
			t.Fatalf("the page asks for a table %q; there is none", name)
		}
		drawn++
		return "<!-- table " + name + " -->\n" + draw(t) + "<!-- end -->"
	})
	if drawn != len(tables) {
		t.Errorf("the page has %d tables, want %d", drawn, len(tables))
	}
	if *update {
		if err := os.WriteFile(page, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(b), got); diff != "" {
		t.Errorf("the page tells something else than the engine does; see which is right, then go test -update (-page +engine):\n%s", diff)
	}
}

func table(head []string, rows [][]string) string {
	var b strings.Builder
	line := func(cells []string) { fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | ")) }
	line(head)
	b.WriteString(strings.Repeat("|---", len(head)) + "|\n")
	for _, r := range rows {
		line(r)
	}
	return b.String()
}

// played runs a script by hand; what began first reports first. Where the script
// has a step that hangs, the run is cancelled as soon as nothing else runs.
func played(t *testing.T, steps []step, s Settings) *State {
	d := newDriver(t, graphOf(t, steps, s), 100, nil)
	d.pick = func(n int) int {
		for i, j := range d.out {
			if j.stopped || !strings.HasSuffix(strings.TrimSuffix(string(j.at.f.path(j.at.i)), "]"), "hangs") {
				return i
			}
		}
		d.cancel()
		return 0
	}
	d.run()
	return d.state
}

func conditionTable(t *testing.T) string {
	probe := func(cond string, up upstream, cancelled bool) string {
		return strings.Replace(states(drive(t, map[string]*Graph{}, []upstream{up}, cond, cancelled))["probe"], "succeeded", "**runs**", 1)
	}
	well, badly := upstreams[0], upstreams[2]
	var rows [][]string
	for _, c := range conditions {
		name := "`" + strings.ReplaceAll(c.name, "|", `\|`) + "`"
		switch c.name {
		case "":
			name = "none"
		case "{a.output} == 'x'":
			name += ", which is true"
		case "{a.output} == 'y'":
			name += ", which is false"
		case "{a.output} > 1":
			name += " where the text is not a number"
		}
		rows = append(rows, []string{name, probe(c.name, well, false), probe(c.name, badly, false), probe(c.name, well, true), probe(c.name, badly, true)})
	}
	return table([]string{"condition", "not tainted", "tainted", "not tainted, after a cancel", "tainted, after a cancel"}, rows)
}

func upstreamTable(t *testing.T) string {
	var rows [][]string
	for _, u := range upstreams {
		cancelled := u.after == "cancel"
		end := func(cond string) string {
			return strings.Replace(states(drive(t, map[string]*Graph{}, []upstream{u}, cond, cancelled))["probe"], "succeeded", "**runs**", 1)
		}
		counts := "well"
		if strings.Contains(end("success() || failure()"), "runs") && strings.Contains(end("failure()"), "runs") {
			counts = "badly"
		}
		rows = append(rows, []string{u.name, counts, end(""), end("failure()"), end("always()")})
	}
	return table([]string{"the upstream step", "went", "no condition", "`failure()`", "`always()`"}, rows)
}

func policyTable(t *testing.T) string {
	var rows [][]string
	for _, st := range []step{
		{tries: []string{"ok"}, retries: 2, fallback: "ok"},
		{tries: []string{"fail", "ok"}, retries: 2, fallback: "ok"},
		{tries: []string{"timeout", "ok"}, retries: 2},
		{tries: []string{"fail"}, retries: 2},
		{tries: []string{"timeout"}, retries: 2},
		{tries: []string{"fail"}, retries: 2, fallback: "ok"},
		{tries: []string{"fail"}, retries: 2, fallback: "fail"},
		{tries: []string{"permanent"}, retries: 2},
		{tries: []string{"permanent"}, retries: 2, fallback: "ok"},
		{tries: []string{"later"}, retries: 2, fallback: "ok"},
		{tries: []string{"ask"}, retries: 2, fallback: "ok"},
		{tries: []string{"ask-fail"}, retries: 2, fallback: "ok"},
		{tries: []string{"ask-late"}, retries: 2, fallback: "ok"},
		{tries: []string{"ask-fail"}, tolerate: true},
		{tries: []string{"fail"}, tolerate: true},
		{tries: []string{"timeout"}, tolerate: true},
		{tries: []string{"fail"}, retries: 2, fallback: "fail", tolerate: true},
		{when: "{a.output} > 1", retries: 2, fallback: "ok"},
	} {
		st.id = "a"
		s := played(t, []step{st}, Settings{})
		var r *Result
		s.All(func(_ ID, _ *Node, _ Status, res *Result) { r = res })
		rows = append(rows, []string{attempts(st), fmt.Sprint(st.retries), or(st.fallback, "none"), yes(st.tolerate),
			"**" + describe(r.Status, r) + "**", fmt.Sprint(r.Attempts), yes(r.Fallback), s.Result().Status.String()})
	}
	return table([]string{"an attempt", "`attempts`", "fallback", "`continue-on-error`", "the step ends", "attempts made", "result of the fallback", "the run ends"}, rows)
}

// attempts tells a script's tries as people would.
func attempts(st step) string {
	words := map[string]string{"ok": "succeeds", "fail": "fails", "timeout": "times out", "permanent": "has its input rejected",
		"later": "waits for a time", "ask": "asks, and is approved", "ask-fail": "asks, and is rejected", "ask-late": "asks, and gets no answer in time"}
	switch {
	case st.when != "":
		return "does not start: the condition cannot be evaluated"
	case len(st.tries) == 2:
		return words[st.tries[0]] + ", the next " + words[st.tries[1]]
	}
	return words[st.tries[0]]
}

func or(s, other string) string {
	if s == "" {
		return other
	}
	return map[string]string{"ok": "succeeds", "fail": "fails"}[s]
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

func runTable(t *testing.T) string {
	var rows [][]string
	for _, c := range []struct {
		tells string
		steps []step
		s     Settings
	}{
		{"every step succeeds", []step{{id: "a"}, {id: "b", after: []string{"a"}}}, Settings{}},
		{"`b` is skipped by its condition", []step{{id: "a"}, {id: "b", when: "{a.output} == 'y'"}}, Settings{}},
		{"every step is skipped by its condition", []step{{id: "a", when: "{a.output} == 'y'"}}, Settings{}},
		{"`a` fails with exit code 3, `b` waits for it", []step{{id: "a", tries: []string{"fail"}}, {id: "b", after: []string{"a"}}}, Settings{}},
		{"`a` fails with 3 under `continue-on-error`, `b` waits for it", []step{{id: "a", tries: []string{"fail"}, tolerate: true}, {id: "b", after: []string{"a"}}}, Settings{}},
		{"`a` times out, `b` fails with 3", []step{{id: "a", tries: []string{"timeout"}}, {id: "b", tries: []string{"fail"}}}, Settings{}},
		{"`a` fails with 3, `b` (`failure()`) succeeds", []step{{id: "a", tries: []string{"fail"}}, {id: "b", after: []string{"a"}, when: "failure()"}}, Settings{}},
		{"`a` fails, its fallback succeeds", []step{{id: "a", tries: []string{"fail"}, fallback: "ok"}}, Settings{}},
		{"`a` fails with 3 under `fail-fast`, `b` is stopped", []step{{id: "a", tries: []string{"fail"}}, {id: "b-hangs", tries: []string{"hang"}}}, Settings{FailFast: true}},
		{"cancelled while `b` runs", []step{{id: "a"}, {id: "b-hangs", after: []string{"a"}, tries: []string{"hang"}}}, Settings{}},
		{"`a` asks and is rejected, `b` waits for it", []step{{id: "a", tries: []string{"ask-fail"}}, {id: "b", after: []string{"a"}}}, Settings{}},
		{"cancelled while `b` runs, after `a` has failed", []step{{id: "a", tries: []string{"fail"}}, {id: "b-hangs", tries: []string{"hang"}}}, Settings{}},
	} {
		r := played(t, c.steps, c.s).Result()
		output := "none"
		if r.Stdout != nil {
			output = "`" + strings.TrimSuffix(r.Stdout.Raw, "-hangs") + "`"
		}
		rows = append(rows, []string{c.tells, "**" + r.Status.String() + "**", fmt.Sprint(r.ExitCode), output})
	}
	return table([]string{"steps `a` and `b`", "the run", "recorded exit code", "output of"}, rows)
}

func loopTable(t *testing.T) string {
	unless := "{a.output} == 'y'"
	var rows [][]string
	for _, c := range []struct {
		tells string
		words string // of the items' tries
		item  step
		least int
		hasty bool
		most  int // at once
	}{
		{tells: "the list is empty"},
		{tells: "the list is empty", least: 2},
		{tells: "all succeed", words: "ok ok ok"},
		{tells: "all are skipped by their condition", words: "ok ok ok", item: step{when: unless}},
		{tells: "all are skipped by their condition", words: "ok ok ok", item: step{when: unless}, least: 1},
		{tells: "one fails with 3", words: "ok fail ok"},
		{tells: "one fails with 3", words: "ok fail ok", least: 2},
		{tells: "one fails with 3", words: "ok fail ok", least: 3},
		{tells: "both of two items fail", words: "fail fail", least: 3},
		{tells: "one fails, and failures are tolerated", words: "ok fail ok", item: step{tolerate: true}},
		{tells: "one fails, and failures are tolerated", words: "ok fail ok", item: step{tolerate: true}, least: 3},
		{tells: "one times out, one fails with 3", words: "ok timeout fail"},
		{tells: "one fails while others run", words: "fail hang hang", hasty: true},
		{tells: "one fails before others begin", words: "fail ok ok", hasty: true, most: 1},
		{tells: "one fails before others begin", words: "fail ok ok", hasty: true, most: 1, least: 2},
		{tells: "two fail before the last begins", words: "fail fail ok", hasty: true, most: 1, least: 2},
		{tells: "one fails before others begin, and failures are tolerated", words: "fail ok ok", item: step{tolerate: true}, hasty: true, most: 1},
		{tells: "the run is cancelled when one has failed and one runs", words: "ok fail hang"},
		{tells: "the run is cancelled when enough have succeeded", words: "ok ok hang", least: 2},
	} {
		l := &loopStep{item: c.item, least: c.least, hasty: c.hasty, parallel: c.most}
		for i, w := range strings.Fields(c.words) {
			l.keys = append(l.keys, fmt.Sprint(i, map[string]string{"hang": "-hangs"}[w]))
			l.words = append(l.words, []string{w})
		}
		s := played(t, []step{{id: "l", loop: l}}, Settings{})
		var ends []string
		var end *Result
		s.All(func(path ID, _ *Node, st Status, r *Result) {
			if path == "l" {
				end = r
			} else {
				ends = append(ends, describe(st, r))
			}
		})
		least := "no"
		if c.least > 0 {
			least = fmt.Sprint(c.least)
		}
		rows = append(rows, []string{c.tells, least, yes(c.hasty), strings.Join(ends, ", "), "**" + end.Status.String() + "**", fmt.Sprint(end.ExitCode)})
	}
	return table([]string{"the items", "`min-success`", "`fail-fast`", "the items end", "the loop ends", "exit code"}, rows)
}
