package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"text/template"
)

// formula is what Homebrew needs to install flowrun.
var formula = template.Must(template.New("").Parse(`# The formula of flowrun {{.Version}}, made by internal/release/release.yaml. In a tap it is Formula/flowrun.rb.
class Flowrun < Formula
  desc "Define tools once; run them from a shell, a schedule, a model or HTTP"
  homepage "https://github.com/flowrun/flowrun"
  version "{{.Version}}"
  license "Apache-2.0"
{{range .Systems}}
  on_{{.Name}} do
{{- range .Archives}}
    on_{{.Processor}} do
      url "https://github.com/flowrun/flowrun/releases/download/v{{$.Version}}/{{.File}}"
      sha256 "{{.Sum}}"
    end
{{- end}}
  end
{{end}}
  def install
    bin.install "flowrun", "flowrun-temporal"
    man1.install Dir["man/man1/*"]
    bash_completion.install "completions/flowrun.bash" => "flowrun"
    zsh_completion.install "completions/_flowrun"
    fish_completion.install "completions/flowrun.fish"
  end

  service do
    run [opt_bin/"flowrun", "serve"]
    keep_alive crashed: true
    working_dir Dir.home
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/flowrun version")
  end
end
`))

type formulaSystem struct {
	Name     string // as Homebrew calls it
	Archives []formulaArchive
}

type formulaArchive struct{ Processor, File, Sum string }

// writeFormula writes the formula for those archives among the files that Homebrew can install.
func writeFormula(w io.Writer, version string, files []string) error {
	sortByName(files)
	systems := []formulaSystem{{Name: "macos"}, {Name: "linux"}}
	for _, file := range files {
		name := filepath.Base(file)
		platform, ok := strings.CutSuffix(strings.TrimPrefix(name, "flowrun_"+version+"_"), ".tar.gz")
		system, arch, _ := strings.Cut(platform, "_")
		i := map[string]int{"darwin": 0, "linux": 1}[system]
		processor := map[string]string{"amd64": "intel", "arm64": "arm"}[arch]
		if !ok || processor == "" {
			return fmt.Errorf("%s is not an archive for macOS or Linux", name)
		}
		sum, err := sha256Of(file)
		if err != nil {
			return err
		}
		systems[i].Archives = append(systems[i].Archives, formulaArchive{processor, name, sum})
	}
	if len(systems[1].Archives) == 0 {
		systems = systems[:1]
	}
	if len(systems[0].Archives) == 0 {
		systems = systems[1:]
	}
	return formula.Execute(w, map[string]any{"Version": version, "Systems": systems})
}
