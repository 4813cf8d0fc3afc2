package value_test

import (
	"encoding/json"
	"testing"

	"github.com/flowrun/flowrun/internal/lang/keytable"
	"github.com/flowrun/flowrun/internal/lang/value"
)

// TestNumbers checks what a number is, in a text and without quotes in a file, and that its digits are kept.
func TestNumbers(t *testing.T) {
	for text, want := range map[string]any{
		"5": int64(5), "+5": int64(5), "010": int64(10), "08": int64(8), "-0": json.Number("-0"), "1.": int64(1),
		"0x10": int64(16), "0o17": int64(15), "0b11": int64(3), "1_000": int64(1000), "-0x1_0": int64(-16),
		"1.5": 1.5, ".5": 0.5, "1_0.5": 10.5, "3.10": json.Number("3.10"), "1e3": json.Number("1e3"), "0012.50": json.Number("12.50"),
		"12345678901234567890": json.Number("12345678901234567890"), "0012345678901234567890": json.Number("12345678901234567890"),
		"1_": nil, "_1": nil, ".inf": nil, ".nan": nil, "1e400": nil, "0x10000000000000000": nil, "1:30": nil, "": nil,
	} {
		got, err := value.ParseNumber(text)
		if got != want || (err == nil) != (want != nil) {
			t.Errorf("%q: %T %v, %v", text, got, got, err)
		}
		v, diags := keytable.DecodeData("f.yaml", []byte("V: "+text+"\n"))
		if len(diags) > 0 {
			t.Fatal(text, diags)
		}
		if in := v.Map[0].Value; want != nil && in.AsNumber().Data() != want || want == nil && text != "" && in.AsNumber().Data() != text {
			t.Errorf("%s in a file: %T %v", text, in.AsNumber().Data(), in.AsNumber().Data())
		}
	}
}
