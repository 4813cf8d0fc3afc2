package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
)

func TestFormula(t *testing.T) {
	dir := t.TempDir()
	var files []string
	for _, platform := range []string{"linux_amd64", "darwin_arm64", "darwin_amd64"} {
		file := filepath.Join(dir, "flowrun_1.2.3_"+platform+".tar.gz")
		write(t, file, platform)
		files = append(files, file)
	}
	sum, err := sha256Of(files[0])
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := writeFormula(&out, "1.2.3", files); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"class Flowrun < Formula\n", "  version \"1.2.3\"\n",
		"  on_macos do\n    on_intel do\n      url \"https://github.com/flowrun/flowrun/releases/download/v1.2.3/flowrun_1.2.3_darwin_amd64.tar.gz\"\n",
		"  on_linux do\n    on_intel do\n      url \"https://github.com/flowrun/flowrun/releases/download/v1.2.3/flowrun_1.2.3_linux_amd64.tar.gz\"\n      sha256 \"" + sum + "\"\n    end\n  end\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the formula has no %q:\n%s", want, &out)
		}
	}
	blocks, ends := 0, 0 // each block that begins also ends
	for line := range strings.Lines(out.String()) {
		line = strings.TrimSpace(line)
		if strings.HasSuffix(line, " do") || strings.HasPrefix(line, "class ") || strings.HasPrefix(line, "def ") {
			blocks++
		}
		if line == "end" {
			ends++
		}
	}
	if blocks != ends || blocks == 0 {
		t.Errorf("%d blocks and %d ends:\n%s", blocks, ends, &out)
	}
	for _, bad := range []string{"flowrun_1.2.3_windows_amd64.zip", "flowrun_1.2.3_linux_riscv64.tar.gz"} {
		if err := writeFormula(&out, "1.2.3", []string{bad}); err == nil || !strings.Contains(err.Error(), bad) {
			t.Errorf("%s: %v", bad, err)
		}
	}
}
