package dag

import (
	"regexp"
	"strings"
)

// The oracle says how a script must end. It is written from the rules for
// people (docs/explanation/states.md), one sentence a line, and shares nothing with the engine:
// no counters, no events, no order of execution.

var tries = regexp.MustCompile(`(\[[^\]]*\])|#\d+`) // a key may look like a try

func withoutTries(path string) string { return tries.ReplaceAllString(path, "$1") }

// oracle is how every step ends, by path, and what the graph comes to.
func oracle(steps []step, prefix string, cancelled bool) (ends map[string]string, total string) {
	ends = map[string]string{}
	bad := map[string]bool{}
	total = "succeeded"
	for _, st := range steps {
		tainted := false
		for _, up := range st.after {
			tainted = tainted || bad[up]
		}
		if st.join {
			bad[st.id] = tainted
			continue
		}
		end := settles(st, prefix, tainted, cancelled, ends)
		bad[st.id] = end == "failed" || end == "timed-out" || end == "skipped (upstream-failed)"
		if (end == "failed" || end == "timed-out") && !st.aside {
			total = "failed"
		}
		ends[prefix+st.id] = end
	}
	return ends, total
}

// settles is how a step ends.
func settles(st step, prefix string, tainted, cancelled bool, ends map[string]string) string {
	end := decision(st.when, tainted, cancelled)
	if end == "runs" {
		end = outcome(st, prefix, ends)
	}
	if (end == "failed" || end == "timed-out") && st.tolerate {
		end += " tolerated"
	}
	return end
}

// loopEnd is how a loop ends: as its items do. Each settles by itself.
func loopEnd(l *loopStep, path string, ends map[string]string) string {
	good, bad := 0, 0
	for i := range l.keys {
		item := l.item
		item.id, item.tries = path+"["+l.key(i)+"]", l.words[i]
		end := settles(item, "", false, false, ends)
		ends[item.id] = end
		switch end {
		case "succeeded", "reused":
			good++
		case "failed", "timed-out":
			bad++
		}
	}
	if l.least == 0 && bad == 0 || l.least > 0 && good >= min(l.least, len(l.keys)) {
		return "succeeded"
	}
	return "failed"
}

// decision is what happens to a step when all it waits for has settled.
func decision(cond string, tainted, cancelled bool) string {
	asksAfterCancel := strings.Contains(cond, "always()") || strings.Contains(cond, "cancelled()")
	asksOutcome := asksAfterCancel || strings.Contains(cond, "success()") || strings.Contains(cond, "failure()")
	switch {
	case cancelled && !asksAfterCancel:
		return "cancelled"
	case tainted && !asksOutcome:
		return "skipped (upstream-failed)"
	}
	holds := map[string]bool{
		"":                         true,
		"{a.output} == 'x'":        true,
		"{a.output} == 'y'":        false,
		"success()":                !tainted,
		"failure()":                tainted,
		"success() || failure()":   true,
		"always()":                 true,
		"cancelled()":              cancelled,
		"!cancelled()":             !cancelled,
		"always() && success()":    !tainted,
		"failure() || cancelled()": tainted || cancelled,
	}
	switch yes, sound := holds[cond]; {
	case !sound:
		return "failed"
	case !yes:
		return "skipped (condition)"
	}
	return "runs"
}

// outcome is how a step that runs ends: its tries in turn, then its fallback.
func outcome(st step, prefix string, ends map[string]string) string {
	end, stands, n := "", false, 1
	for round := 1; ; round++ {
		final := false
		for tries := 0; tries <= st.retries; tries++ {
			end, final = try(st, n, prefix, ends)
			stands = final && waits(st, n)
			n++
			if final || end != "failed" && end != "timed-out" {
				break
			}
		}
		rep := st.repeat
		if rep == nil || final || end != "succeeded" && !((end == "failed" || end == "timed-out") && rep.failures) || rep.done > 0 && n > rep.done {
			break
		}
		if round == rep.max {
			end = "failed"
			break
		}
	}
	if (end == "failed" || end == "timed-out") && st.fallback != "" && !stands {
		for path := range ends {
			if strings.HasPrefix(path, prefix+st.id+"/") {
				delete(ends, path) // what the nested steps did is not what stands
			}
		}
		end, _ = word(st.fallback)
	}
	return end
}

// try is how one try ends, and whether another could not help.
func try(st step, n int, prefix string, ends map[string]string) (end string, final bool) {
	switch {
	case st.bind == "refused", st.loop != nil && st.loop.refused != "":
		return "failed", true
	case st.loop != nil:
		return loopEnd(st.loop, prefix+st.id, ends), true
	case st.inner != nil:
		inner, total := oracle(st.inner, prefix+st.id+"/", false)
		for path, e := range inner {
			ends[path] = e
		}
		return total, false
	case len(st.tries) == 0:
		return "succeeded", false
	}
	return word(st.tries[min(n, len(st.tries))-1])
}

// waits says whether a try of a leaf leaves its end to the outside: that stands.
func waits(st step, n int) bool {
	if st.loop != nil || st.inner != nil || len(st.tries) == 0 {
		return false
	}
	w := st.tries[min(n, len(st.tries))-1]
	return strings.HasPrefix(w, "later") || strings.HasPrefix(w, "ask")
}

func word(w string) (end string, final bool) {
	switch w {
	case "later", "ask":
		return "succeeded", true
	case "later-fail", "ask-fail", "ask-late":
		return "failed", true
	case "ok":
		return "succeeded", false
	case "fail":
		return "failed", false
	case "timeout":
		return "timed-out", false
	case "permanent":
		return "failed", true
	}
	return w, false
}
