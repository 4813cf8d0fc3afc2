package argparse_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/model/argparse"
)

// documents are arguments of several sizes, as plain JSON.
func documents() map[string]string {
	var rows []string
	for i := range 2000 {
		rows = append(rows, fmt.Sprintf(`{"id": %d, "name": "row %d", "ok": true, "tags": ["a", "b"], "size": %d.5, "note": "said \"hi\"\n"}`, i, i, i))
	}
	return map[string]string{
		"small": `{"p": 10, "d": 100}`,
		"text":  `{"body": "` + strings.Repeat("All work and no play. ", 5000) + `"}`,
		"rows":  `{"rows": [` + strings.Join(rows, ", ") + `]}`,
	}
}

// BenchmarkJSON holds plain JSON against encoding/json.
func BenchmarkJSON(b *testing.B) {
	for name, doc := range documents() {
		b.Run(name+"/repair", func(b *testing.B) {
			b.SetBytes(int64(len(doc)))
			b.ReportAllocs()
			for b.Loop() {
				if _, ref := argparse.Parse(&argparse.Schema{}, "", []byte(doc)); ref != nil {
					b.Fatal(ref)
				}
			}
		})
		b.Run(name+"/encoding", func(b *testing.B) {
			b.SetBytes(int64(len(doc)))
			b.ReportAllocs()
			for b.Loop() {
				var v map[string]any
				if err := json.Unmarshal([]byte(doc), &v); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
