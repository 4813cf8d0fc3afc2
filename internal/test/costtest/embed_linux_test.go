package costtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/test/needtest"
)

// embedding are programs in examples that embed flowrun: without a history, with one in a file, and for definitions of others.
var embedding = []string{"server", "durable", "foreign"}

// TestEmbedding counts what a program that embeds flowrun links, how large it is, and what its start takes.
func TestEmbedding(t *testing.T) {
	needtest.ReleaseFlags(t)
	got := counts{}
	dir := t.TempDir()
	for _, name := range embedding {
		program := filepath.Join(dir, name)
		from := "github.com/flowrun/flowrun/examples/" + name
		list, err := exec.Command("go", "list", "-deps", from).Output()
		if err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command("go", "build", "-ldflags", "-s -w", "-o", program, from).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		info, err := os.Stat(program)
		if err != nil {
			t.Fatal(err)
		}
		got.add(name+", packages", float64(strings.Count(string(list), "\n")))
		got.add(name+", bytes", float64(info.Size()))
		addInits(t, got, name+", inits", exec.Command(program)) // it prints its usage
	}
	check(t, "embedding", got)
}
