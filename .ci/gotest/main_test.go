package main

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestParseQuarantine(t *testing.T) {
	now := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		text, fails string
		n           int
	}{
		{"# a comment\n\n", "", 0},
		{"TestA/b 2026-11-20 loses a race\nTestB 2026-11-02 port taken\n", "", 2},
		{"TestA 2026-10-31 loses a race\n", "more than 30 days", 0},
		{"TestA 2026-11-20\n", "write TestName", 0},
		{"TestA yesterday slow\n", "cannot parse", 0},
	} {
		list, err := parseQuarantine(c.text, now)
		if len(list) != c.n || (err == nil) != (c.fails == "") || err != nil && !strings.Contains(err.Error(), c.fails) {
			t.Errorf("%q: %v, %v", c.text, list, err)
		}
	}
}

func TestLeaveOut(t *testing.T) {
	list := []entry{{test: "TestA/b"}, {test: "TestC"}}
	for _, c := range []struct{ args, want []string }{
		{[]string{"-v", "./..."}, []string{"-skip", "^TestA$/^b$|^TestC$", "-v", "./..."}},
		{[]string{"-skip", "x", "./..."}, []string{"-skip", "x|^TestA$/^b$|^TestC$", "./..."}},
	} {
		if got := addSkipFlag(c.args, list); !slices.Equal(got, c.want) {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
	if got := addSkipFlag([]string{"./..."}, nil); len(got) != 1 {
		t.Errorf("nothing is quarantined, but got %q", got)
	}
}

func TestReport(t *testing.T) {
	const in = `{"Action":"start","Package":"p"}
{"Action":"run","Package":"p","Test":"TestGood"}
{"Action":"output","Package":"p","Test":"TestGood","Output":"    a_test.go:1: only with -v\n"}
{"Action":"pass","Package":"p","Test":"TestGood"}
{"Action":"output","Package":"p","Test":"TestBad","Output":"=== RUN   TestBad\n"}
{"Action":"output","Package":"p","Test":"TestBad","Output":"    a_test.go:2: got 1\n"}
{"Action":"fail","Package":"p","Test":"TestBad"}
{"Action":"output","Package":"github.com/flowrun/flowrun/p","Test":"TestSkip","Output":"    a_test.go:3: no node\n"}
{"Action":"skip","Package":"github.com/flowrun/flowrun/p","Test":"TestSkip"}
{"Action":"output","Package":"p","Test":"TestHangs","Output":"panic: test timed out\n"}
{"ImportPath":"q","Action":"build-output","Output":"q.go:1: syntax error\n"}
{"Action":"output","Package":"p","Output":"FAIL\tp\t0.1s\n"}
{"Action":"fail","Package":"p"}
not JSON
`
	var out strings.Builder
	skipped, err := report(strings.NewReader(in), &out)
	if err != nil {
		t.Fatal(err)
	}
	const want = "    a_test.go:2: got 1\nq.go:1: syntax error\nFAIL\tp\t0.1s\npanic: test timed out\nnot JSON\n"
	if out.String() != want {
		t.Errorf("printed %q, want %q", out.String(), want)
	}
	out.Reset()
	if skipped.print(&out); out.String() != "skipped: 1\n     1  no node: flowrun/p.TestSkip\n" {
		t.Errorf("printed %q", out.String())
	}
}
