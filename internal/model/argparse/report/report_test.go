package report_test

import (
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/model/argparse/report"
)

// TestPath: repairs and messages name the current value.
func TestPath(t *testing.T) {
	r := new(report.Report)
	if r.Here() != "the call" {
		t.Error(r.Here())
	}
	r.Enter("opts")
	r.EnterItem(2)
	r.Enter("nam")
	r.Rename("name")
	r.AddRepair("quotes", 7)
	if got := r.Repairs[0]; got != (report.Repair{Kind: "quotes", Path: "opts[2].name", Offset: 7}) || !r.Repaired {
		t.Errorf("%+v", got)
	}
	if r.Leave(); !r.InItem() {
		t.Error("opts[2] is not an item")
	}
	for range 200 {
		r.Coerced("number", 1)
		r.Enter("a long name")
	}
	if len(r.Coercions) != 100 || len(r.Here()) > 120 {
		t.Errorf("%d coercions, the path %s", len(r.Coercions), r.Here())
	}
}

// TestFirstRefusal: only the first refusal counts.
func TestFirstRefusal(t *testing.T) {
	r := new(report.Report)
	if r.Fail("syntax", 3, "expected %q", "x") || r.Fail("type", 4, "another") {
		t.Error("a refusal is true")
	}
	if r.Bad.Code != "syntax" || r.Bad.Offset != 3 || r.Bad.Message != `expected "x"` {
		t.Errorf("%+v", r.Bad)
	}
}

// TestRefusalSize: the JSON form has at most 2 KB, whatever is in it.
func TestRefusalSize(t *testing.T) {
	for _, c := range []string{"a", "<", "é", "\"", "\x01", "\xff"} {
		bad := &report.Refusal{Code: "type", Message: strings.Repeat(c, 5000), Hint: strings.Repeat(c, 5000)}
		for range 10 {
			bad.Suggest(strings.Repeat(c, 500))
		}
		if b, err := bad.MarshalJSON(); err != nil || len(b) > 2048 {
			t.Errorf("%q: %d bytes, %v", c, len(b), err)
		}
	}
}
