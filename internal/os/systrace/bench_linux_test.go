//go:build amd64 || arm64

package systrace

import (
	"os"
	"os/exec"
	"testing"
)

// BenchmarkOpens runs a program that opens many files, traced and not.
func BenchmarkOpens(b *testing.B) {
	const script = `i=0; while [ $i -lt 2000 ]; do : </etc/passwd; i=$((i+1)); done`
	b.Run("plain", func(b *testing.B) {
		for b.Loop() {
			if err := exec.Command("/bin/sh", "-c", script).Run(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("traced", func(b *testing.B) {
		for b.Loop() {
			run(b, "/", "/bin/sh", "-c", script)
		}
	})
	b.Run("ptrace", func(b *testing.B) {
		strace, err := exec.LookPath("strace")
		if err != nil {
			b.Skip(err)
		}
		for b.Loop() {
			c := exec.Command(strace, "-f", "--seccomp-bpf", "-e", "trace=%file,connect", "-o", os.DevNull, "/bin/sh", "-c", script)
			if err := c.Run(); err != nil {
				b.Fatal(err)
			}
		}
	})
}
