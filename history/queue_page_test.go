package history_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/history"
	"github.com/google/go-cmp/cmp"
)

// TestClaimsPage holds the table of docs/reference/concurrency.md against the rule of the queue.
func TestClaimsPage(t *testing.T) {
	t.Parallel()
	now := time.Unix(1e9, 0)
	pool := func(count int) history.LockDemand {
		return history.LockDemand{Kind: history.DemandPool, Name: "gpu", Slots: 3, Count: count}
	}
	paced := pool(1)
	paced.Rate = history.Rate{N: 2, Per: time.Minute}
	lock := history.LockDemand{Kind: history.DemandLock, Name: "db", Slots: 1}
	entry := func(name string, priority int, d ...history.LockDemand) history.QueueEntry {
		return history.QueueEntry{Run: name, Step: name, Demands: d, Priority: priority}
	}
	held := func(e history.QueueEntry) history.QueueEntry { e.Held = true; return e }
	var b strings.Builder
	b.WriteString("| hold | wait, in this order | start now | why |\n|---|---|---|---|\n")
	for _, c := range []struct {
		why   string
		rates history.Rates
		queue history.Queue
	}{
		{"there are three slots", nil, history.Queue{entry("a", 0, pool(1)), entry("b", 0, pool(1)), entry("c", 0, pool(1)), entry("d", 0, pool(1))}},
		{"in the order in which they asked", nil, history.Queue{held(entry("x", 0, pool(2))), entry("a", 0, pool(1)), entry("b", 0, pool(1))}},
		{"a step that wants more is not overtaken", nil, history.Queue{held(entry("x", 0, pool(2))), entry("a", 0, pool(2)), entry("b", 0, pool(1))}},
		{"a higher priority comes first", nil, history.Queue{held(entry("x", 0, pool(2))), entry("a", 0, pool(1)), entry("b", 1, pool(1))}},
		{"also before a step that wants more", nil, history.Queue{held(entry("x", 0, pool(2))), entry("a", 0, pool(2)), entry("b", 1, pool(1))}},
		{"everything together, and the next does not overtake", nil, history.Queue{held(entry("x", 0, lock)), entry("a", 0, lock, pool(1)), entry("b", 0, pool(1))}},
		{"they have nothing in common", nil, history.Queue{held(entry("x", 0, lock)), entry("a", 0, lock), entry("b", 0, pool(1))}},
		{"a lower priority does not overtake", nil, history.Queue{held(entry("x", 0, lock)), entry("a", 0, lock, pool(1)), entry("b", -1, pool(1))}},
		{"the rate lets two start", history.Rates{}, history.Queue{entry("a", 0, paced), entry("b", 0, paced), entry("c", 0, paced)}},
		{"two have just started", history.Rates{"gpu": now.Add(time.Minute)}, history.Queue{entry("a", 0, paced)}},
		{"half a minute later there is one more", history.Rates{"gpu": now.Add(30 * time.Second)}, history.Queue{entry("a", 0, paced), entry("b", 0, paced)}},
	} {
		var holds, waits, starts []string
		for _, e := range c.queue {
			if e.Held {
				holds = append(holds, claimText(e))
			} else {
				waits = append(waits, claimText(e))
			}
		}
		next, _ := c.queue.Next(now, c.rates)
		for _, i := range next {
			starts = append(starts, "`"+c.queue[i].Step+"`")
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", strings.Join(holds, ", "), strings.Join(waits, ", "), strings.Join(starts, ", "), c.why)
	}
	page, err := os.ReadFile("../docs/reference/concurrency.md")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`(?s)<!-- table claims -->\n(.*?)<!-- end -->`).FindSubmatch(page)
	if m == nil {
		t.Fatal("the page has no table")
	}
	if diff := cmp.Diff(string(m[1]), b.String()); diff != "" {
		t.Errorf("(-page +rule):\n%s\nthe table is\n%s", diff, &b)
	}
}

func claimText(e history.QueueEntry) string {
	var words []string
	for _, d := range e.Demands {
		switch {
		case d.Kind == history.DemandLock:
			words = append(words, "lock "+d.Name)
		case d.Rate.N > 0:
			words = append(words, "1 slot, rate "+d.Rate.String())
		case d.Count == 1:
			words = append(words, "1 slot")
		default:
			words = append(words, fmt.Sprint(d.Count, " slots"))
		}
	}
	if e.Priority != 0 {
		words = append(words, fmt.Sprint("priority ", e.Priority))
	}
	return fmt.Sprintf("`%s` (%s)", e.Step, strings.Join(words, ", "))
}
