package servertest

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/flowrun/flowrun/internal/engine"
	"github.com/google/go-cmp/cmp"
)

// volatile are the fields that differ between any two runs. On Temporal, notices are in the logs of the workers; the local
// runs are not recorded, so they name no definitions.
var volatile = map[string]bool{"id": true, "started": true, "ended": true, "last_sign": true, "duration_ms": true, "waited_ms": true, "idle_ms": true,
	"notices": true, "usage": true, "definitions": true}

var (
	times  = regexp.MustCompile(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z| UTC|[+-]\d\d:?\d\d)?`)
	counts = regexp.MustCompile(`^\d+ notices?$`)
	spans  = regexp.MustCompile(`\b\d+(\.\d+)? ?(ms|s)\b`)
	keys   = regexp.MustCompile(`Idempotency-Key: [0-9a-f]{32}`)
)

// difference is how two run documents differ beyond what differs between any two runs; "" if they are equal.
func difference(local, other document, localDir, otherDir string) string {
	return cmp.Diff(comparable(local, localDir, true), comparable(other, otherDir, true))
}

// comparable is a value of a document without times and folders.
func comparable(v any, dir string, top bool) any {
	switch v := v.(type) {
	case document:
		return comparable(map[string]any(v), dir, top)
	case map[string]any:
		m := maps.Clone(v)
		for key, in := range v {
			if volatile[key] && (key != "id" || top) {
				delete(m, key)
				continue
			}
			switch m[key] = comparable(in, dir, false); key {
			case "notes":
				withoutCount(m)
			case "artifacts":
				withoutPaths(m[key].([]any))
			}
		}
		return m
	case []any:
		list := make([]any, len(v))
		for i, in := range v {
			list[i] = comparable(in, dir, false)
		}
		return list
	case string:
		v = times.ReplaceAllString(strings.ReplaceAll(v, dir, dirMark), "TIME")
		return keys.ReplaceAllString(spans.ReplaceAllString(v, "SPAN"), "Idempotency-Key: KEY")
	}
	return v
}

// withoutCount removes the number of notices from the notes of a run.
func withoutCount(m map[string]any) {
	notes := slices.DeleteFunc(m["notes"].([]any), func(note any) bool { return counts.MatchString(note.(string)) })
	if m["notes"] = notes; len(notes) == 0 {
		delete(m, "notes")
	}
}

// withoutPaths removes from artifacts where they are.
func withoutPaths(artifacts []any) {
	for _, a := range artifacts {
		a := a.(map[string]any)
		delete(a, "path")
		if paths, ok := a["paths"].([]any); ok {
			a["paths"] = len(paths)
		}
	}
}

// misordered returns a sentence about a step that began before one that it waits for had ended, by the times in a
// document; "" if there is none.
func misordered(p *engine.Plan, d document) string {
	began, ended := map[string]time.Time{}, map[string]time.Time{}
	for _, s := range d["steps"].([]any) {
		s := s.(map[string]any)
		path := s["id"].(string)
		began[path], ended[path] = moment(s["started"]), moment(s["ended"])
	}
	for path, at := range began {
		if at.IsZero() {
			continue
		}
		for _, up := range p.Upstream(path) {
			if end := ended[up]; end.After(at) {
				return path + " began before " + up + " had ended"
			}
		}
	}
	return ""
}

func moment(v any) time.Time {
	text, _ := v.(string)
	at, _ := time.Parse(time.RFC3339Nano, text)
	return at
}
