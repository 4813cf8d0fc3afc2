package tool

import (
	"fmt"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// bigFile is a definition of n steps, about 100 bytes each.
func bigFile(n int) []byte {
	var b strings.Builder
	b.WriteString("name: big\ndescription: Many steps.\nsteps:\n")
	for i := range n {
		fmt.Fprintf(&b, "  - name: step-%d\n    bash: |\n      echo \"working on %d\"\n      sleep 0\n    run-condition: \"true\"\n", i, i)
	}
	return []byte(b.String())
}

func BenchmarkDecode(b *testing.B) {
	for _, n := range []int{1, 100, 10_000} {
		src := bigFile(n)
		b.Run(fmt.Sprintf("steps=%d", n), func(b *testing.B) {
			b.SetBytes(int64(len(src)))
			b.ReportAllocs()
			for b.Loop() {
				if _, found := DecodeDocument("big.yaml", src); len(found) > 0 {
					b.Fatal(found)
				}
			}
		})
	}
}

// BenchmarkYAML is what the parser alone takes: no reader can take less.
func BenchmarkYAML(b *testing.B) {
	src := bigFile(10_000)
	b.SetBytes(int64(len(src)))
	for b.Loop() {
		var n yaml.Node
		if err := yaml.Unmarshal(src, &n); err != nil {
			b.Fatal(err)
		}
	}
}
