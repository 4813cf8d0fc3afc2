package web_test

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/service/web"
	"github.com/flowrun/flowrun/internal/test/waittest"
)

type logPart struct {
	Attempt int
	Stream  string
	Bytes   int64
}

type logPage struct {
	logPart
	Parts       []logPart
	Total, From int64
	Open        bool
	Lines       []string
}

func (b *bench) lines(id, query string) (p logPage) {
	b.Helper()
	_, doc := b.get("/api/v1/runs/" + id + "/lines?" + query)
	if err := json.Unmarshal(doc, &p); err != nil {
		b.Fatalf("%v %s", err, doc)
	}
	return p
}

// TestLines reads the output of a step by lines, while it runs and later.
func TestLines(t *testing.T) {
	b := newBench(t, web.Options{})
	id, file := b.gated()
	var p logPage
	for len(p.Lines) == 0 {
		p = b.lines(id, "step=two")
	}
	if !slices.Equal(p.Lines, []string{"waiting"}) || p.Total != 1 || p.Open || p.Stream != "stdout" {
		t.Errorf("%+v", p)
	}
	b.open(file)
	b.becomes(id, dag.Succeeded)
	if p := b.lines(id, "step=two&from=2"); !slices.Equal(p.Lines, []string{"done"}) || p.From != 2 || p.Total != 2 {
		t.Errorf("%+v", p)
	}
	p = b.lines(id, "step=one&stream=stderr&attempt=1")
	if !slices.Equal(p.Lines, []string{"grumble"}) || !slices.Equal(p.Parts, []logPart{{1, "stdout", 6}, {1, "stderr", 8}}) {
		t.Errorf("%+v", p)
	}
	if p := b.lines(id, "step=one&attempt=2"); len(p.Lines) != 0 || len(p.Parts) != 2 {
		t.Errorf("%+v", p)
	}
	_, doc := b.get("/api/v1/runs/" + id + "/search?step=two&text=" + url.QueryEscape("DONE"))
	if string(doc) != `{"matches":[{"line":2,"text":"done"}]}`+"\n" {
		t.Errorf("%s", doc)
	}
	if _, doc := b.get("/api/v1/runs/" + id + "/search?step=one&attempt=3&text=x"); string(doc) != `{"matches":[]}`+"\n" {
		t.Errorf("%s", doc)
	}
	for path, status := range map[string]int{"lines?step=none": 404, "lines": 404, "lines?step=../../..": 404, "lines?step=one&from=x": 400, "lines?step=one&limit=0": 400,
		"search?step=one": 400, "search?step=one&text=%0A": 400} {
		if res, doc := b.get("/api/v1/runs/" + id + "/" + path); res.StatusCode != status {
			t.Errorf("%s: %d %s", path, res.StatusCode, doc)
		}
	}
	res, _ := b.get("/api/v1/runs/" + id + "/logs?step=one&stream=stdout&attempt=1&download=1")
	if got := res.Header.Get("Content-Disposition"); got != "attachment; filename="+id+"-one-1-stdout.log" {
		t.Errorf("%q", got)
	}
}

// TestMergedLines reads the streams of a step, and of a run, in the order in which they were printed.
func TestMergedLines(t *testing.T) {
	b := newBench(t, web.Options{})
	id, file := b.gated()
	var p mergedPage
	for p.Total < 3 {
		p = b.merged(id, "")
	}
	if p.Settled == nil || *p.Settled > p.Total {
		t.Errorf("%+v", p)
	}
	b.open(file)
	b.becomes(id, dag.Succeeded)
	p = b.merged(id, "")
	if got, want := p.String(), "one:stdout:first one:stderr:grumble two:stdout:waiting two:stdout:done"; got != want || *p.Settled != 4 {
		t.Errorf("%s, want %s; %d settled", got, want, *p.Settled)
	}
	for _, o := range p.Origins {
		if o.Time == "" {
			t.Errorf("%+v", o)
		}
	}
	p = b.merged(id, "&step=one&from=2")
	if got, want := p.String(), "one:stderr:grumble"; got != want || p.Attempt != 1 || p.Bytes != 14 || len(p.Parts) != 2 {
		t.Errorf("%s, want %s: %+v", got, want, p)
	}
	if p := b.merged(id, "&stream=stderr"); p.String() != "one:stderr:grumble" {
		t.Errorf("%s", p)
	}
	if p := b.merged(id, "&step=one&attempt=2"); p.Total != 0 || len(p.Parts) != 2 {
		t.Errorf("%+v", p)
	}
	_, doc := b.get("/api/v1/runs/" + id + "/search?merged=1&text=" + url.QueryEscape("G"))
	var found struct {
		Matches []struct {
			Line               int
			Text, Step, Stream string
		}
	}
	if err := json.Unmarshal(doc, &found); err != nil || len(found.Matches) != 2 || found.Matches[0].Step != "one" || found.Matches[0].Stream != "stderr" || found.Matches[1].Line != 3 {
		t.Errorf("%v %s", err, doc)
	}
	if res, doc := b.get("/api/v1/runs/" + id + "/lines?merged=1&step=none"); res.StatusCode != 404 {
		t.Errorf("%d %s", res.StatusCode, doc)
	}
}

type mergedPage struct {
	logPage
	Settled *int64
	Origins []struct {
		Line               int64
		Step, Stream, Time string
	}
}

// String returns the lines as STEP:STREAM:TEXT.
func (p mergedPage) String() string {
	var list []string
	for i, text := range p.Lines {
		of := ""
		for _, o := range p.Origins {
			if o.Line <= p.From+int64(i) {
				of = o.Step + ":" + o.Stream
			}
		}
		list = append(list, of+":"+text)
	}
	return strings.Join(list, " ")
}

func (b *bench) merged(id, query string) (p mergedPage) {
	b.Helper()
	_, doc := b.get("/api/v1/runs/" + id + "/lines?merged=1" + query)
	if err := json.Unmarshal(doc, &p); err != nil {
		b.Fatalf("%v %s", err, doc)
	}
	return p
}

// TestAnswerLines: the output of a step without log files is in its result.
func TestAnswerLines(t *testing.T) {
	b := newBench(t, web.Options{})
	id := b.start(`{"tool": "asks"}`)
	b.becomes(id, dag.Waiting)
	_, doc := b.get("/api/v1/questions")
	var all struct {
		Questions []struct{ Run, Tool, Step, Prompt string }
	}
	if err := json.Unmarshal(doc, &all); err != nil || len(all.Questions) != 1 || all.Questions[0].Run != id || all.Questions[0].Step != "gate" || all.Questions[0].Tool != "asks" {
		t.Errorf("%v %s", err, doc)
	}
	b.ask("POST", "/api/v1/runs/"+id+"/approve", `{"values": {"VERSION": "1"}}`)
	b.becomes(id, dag.Succeeded)
	if p := b.lines(id, "step=gate"); len(p.Lines) != 1 || !strings.Contains(p.Lines[0], `"VERSION":"1"`) {
		t.Errorf("%+v", p)
	}
	if _, doc := b.get("/api/v1/questions"); string(doc) != `{"questions":[]}`+"\n" {
		t.Errorf("%s", doc)
	}
}

// TestPreviews shows what a resume and a retry would do, and the definition of a run without the
// folders of the machine.
func TestPreviews(t *testing.T) {
	b := newBench(t, web.Options{})
	id := b.start(`{"tool": "fails"}`)
	b.becomes(id, dag.Failed)
	for path, want := range map[string]string{
		"resume":          `{"keeps":["good"],"again":["bad"],"first":[],"waiting":[],"held":[],"asks":[],"lost":[],"cleaned":[]}`,
		"retry":           `{"keeps":["good"],"again":["bad"],"first":[],"waiting":[],"held":[],"asks":[],"lost":[],"cleaned":[]}`,
		"retry?from=good": `{"keeps":[],"again":["good","bad"],"first":[],"waiting":[],"held":[],"asks":[],"lost":[],"cleaned":[]}`,
		"definition":      `{"files":[{"name":"fails.yaml","scope":"local","digest":"` + tool.DigestOf([]byte(tools["fails"])) + `","text":` + quoted(tools["fails"]) + `}]}`,
	} {
		if _, doc := b.get("/api/v1/runs/" + id + "/" + path); string(doc) != want+"\n" {
			t.Errorf("%s: %s, want %s", path, doc, want)
		}
	}
	if res, _ := b.get("/api/v1/runs/" + id + "/retry?from=none"); res.StatusCode != 404 {
		t.Error(res.StatusCode)
	}
	_, doc := b.get("/api/v1/runs/" + id + "?brief=1")
	var run struct {
		Origin string
		Steps  []struct{ ID, Output string }
	}
	if err := json.Unmarshal(doc, &run); err != nil || run.Origin != "api" || len(run.Steps) != 2 || run.Steps[0].Output != "" {
		t.Errorf("%v %s", err, doc)
	}
}

func quoted(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

// TestBriefRunIsEncodedOnce checks that several pages of one run get one encoding of it, and a new one when something
// happens in the run.
func TestBriefRunIsEncodedOnce(t *testing.T) {
	b := newBench(t, web.Options{})
	id := b.start(`{"tool": "asks"}`)
	b.becomes(id, dag.Waiting)
	brief := func() string {
		t.Helper()
		_, doc := b.get("/api/v1/runs/" + id + "?brief=1")
		return string(doc)
	}
	first := brief()
	for range 4 {
		if doc := brief(); doc != first {
			t.Errorf("%s is now %s", first, doc)
		}
	}
	if n := web.BriefEncodings(b.handler); n != 1 || !strings.Contains(first, `"status":"waiting"`) {
		t.Errorf("encoded %d times: %s", n, first)
	}
	if err := b.service.Control.Cancel(t.Context(), id, ""); err != nil {
		t.Fatal(err)
	}
	waittest.Until(b, "cancelled run without an owner", func() bool { // the owner leaves it after the last event
		info, err := b.store.Info(t.Context(), id)
		return err == nil && info.Status == dag.Cancelled && info.PID == 0
	})
	before := web.BriefEncodings(b.handler)
	last := brief()
	for range 4 {
		brief()
	}
	if n := web.BriefEncodings(b.handler) - before; n != 1 || !strings.Contains(last, `"status":"cancelled"`) {
		t.Errorf("encoded %d times: %s", n, last)
	}
}
