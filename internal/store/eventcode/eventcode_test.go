package eventcode

import (
	"encoding/hex"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/test/proptest"
)

// What is read is what was written, for random values of all fields. The fields are found by
// reflection, so that a new one cannot be forgotten.
func TestDecode(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		run := rapid.SampledFrom([]string{"", "1m83ww0epz1x2"}).Draw(t, "run")
		events := make([]dag.Event, rapid.IntRange(1, 4).Draw(t, "events"))
		for i := range events {
			draw(t, reflect.ValueOf(&events[i]).Elem())
			if rapid.Bool().Draw(t, "own run") {
				events[i].Run = run
			}
		}
		before, err := json.Marshal(events)
		if err != nil {
			t.Fatal(err)
		}
		text := Append(nil, run, events)
		if after, err := json.Marshal(events); err != nil || string(before) != string(after) {
			t.Fatal("the events were changed")
		}
		got, err := Decode(nil, run, text)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(events, got, cmpopts.IgnoreUnexported(dag.Event{}), cmpopts.EquateEmpty()); diff != "" {
			t.Fatal(diff)
		}
		for cut := range text {
			if list, err := Decode(nil, run, text[:cut]); err == nil {
				t.Fatalf("%d of %d bytes were read as %d events", cut, len(text), len(list))
			}
		}
	})
}

func draw(t *rapid.T, v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			if rapid.Bool().Draw(t, "set") {
				v.Set(reflect.ValueOf(time.Unix(rapid.Int64Range(-1, 1<<33).Draw(t, "s"), rapid.Int64Range(0, 999_999_999).Draw(t, "ns")).UTC()))
			}
			return
		}
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && !strings.HasPrefix(f.Tag.Get("json"), "-") {
				draw(t, v.Field(i))
			}
		}
	case reflect.Pointer:
		if rapid.Bool().Draw(t, "there") {
			v.Set(reflect.New(v.Type().Elem()))
			draw(t, v.Elem())
		}
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[json.RawMessage]() {
			v.SetBytes(rapid.SampledFrom([]json.RawMessage{nil, json.RawMessage(`{"type":"object"}`)}).Draw(t, "json"))
			return
		}
		for range rapid.IntRange(0, 3).Draw(t, "len") {
			e := reflect.New(v.Type().Elem()).Elem()
			draw(t, e)
			v.Set(reflect.Append(v, e))
		}
	case reflect.String:
		v.SetString(rapid.OneOf(rapid.String(), rapid.SampledFrom(append([]string{"", "a\nb", "\xff"}, words...))).Draw(t, "text"))
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, "bool"))
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(rapid.Int64().Draw(t, "int")) // cut to the size of the field
	case reflect.Uint64:
		v.SetUint(rapid.Uint64().Draw(t, "uint"))
	case reflect.Uint8: // Status
		v.SetUint(uint64(rapid.IntRange(0, int(dag.Interrupted)).Draw(t, "status")))
	default:
		t.Fatalf("a field of kind %s", v.Kind())
	}
}

// What an earlier version wrote stays readable.
func TestWritten(t *testing.T) {
	const text = "01040402b40904086e335f3002cebaf5ffe9e5d1ea310000060002d9c190018097900100020202086e335f3102de2a9aefcb8c01"
	b, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := Decode(nil, "1m83ww0epz1x2", b); err != nil || !reflect.DeepEqual(got, turn()) {
		t.Errorf("%v, %v", got, err)
	}
	if got := hex.EncodeToString(Append(nil, "1m83ww0epz1x2", turn())); got != text {
		t.Errorf("the format has changed to %s", got)
	}
}

// A turn of a run: one step ends, the next one starts.
func turn() []dag.Event {
	at := time.Date(2026, 11, 23, 9, 47, 51, 738044070, time.UTC)
	return []dag.Event{
		{V: 1, Seq: 602, Run: "1m83ww0epz1x2", Kind: dag.StepFinished, Node: "n3_0", Attempt: 1, Time: at,
			Result: &dag.Result{Status: dag.Succeeded, Attempts: 1, Started: at.Add(-1183853), Ended: at.Add(-2734)}},
		{V: 1, Seq: 603, Run: "1m83ww0epz1x2", Kind: dag.StepStarted, Node: "n3_1", Attempt: 1, Time: at, Queued: 147422157},
	}
}

func TestSize(t *testing.T) {
	if n := len(Append(nil, "1m83ww0epz1x2", turn())); n > 60 {
		t.Errorf("a turn takes %d bytes", n)
	}
	with := turn()
	with[0].Result.Usage = dag.Usage{User: 812 * time.Microsecond, System: 1204 * time.Microsecond}
	if n := len(Append(nil, "1m83ww0epz1x2", with)) - len(Append(nil, "1m83ww0epz1x2", turn())); n > 9 {
		t.Errorf("what a step used takes %d bytes", n)
	}
}

// TestArtifacts: what was kept of a step is in its event.
func TestArtifacts(t *testing.T) {
	list := turn()
	list[0].Result.SetArtifacts([]dag.Artifact{{Name: "report", Path: "/state/report.html", Files: 1, Size: 37, Digest: "sha256:a0", Expires: list[0].Time},
		{Name: "out", Paths: []string{"/a", "/b"}}})
	got, err := Decode(nil, "1m83ww0epz1x2", Append(nil, "1m83ww0epz1x2", list))
	if diff := cmp.Diff(list[0].Result, got[0].Result); diff != "" || err != nil {
		t.Errorf("(-want +got):\n%s %v", diff, err)
	}
}

func BenchmarkAppend(b *testing.B) {
	var text []byte
	events := turn()
	for b.Loop() {
		text = Append(text[:0], "1m83ww0epz1x2", events)
	}
}

func BenchmarkDecode(b *testing.B) {
	text := Append(nil, "1m83ww0epz1x2", turn())
	var list []dag.Event
	b.ReportAllocs()
	for b.Loop() {
		list, _ = Decode(list[:0], "1m83ww0epz1x2", text)
	}
}

// FuzzDecode: no text makes Decode panic or take more than it should.
func FuzzDecode(f *testing.F) {
	f.Add(Append(nil, "r", turn()))
	f.Fuzz(func(t *testing.T, text []byte) { Decode(nil, "r", text) })
}
