package cli_test

import (
	"os"
	"strings"
	"testing"
)

// covered names the script that shows each option of the specification: the number of
// the id in docs/reference/requirements.md (S1-...), the script, and a text that it contains.
var covered = []struct {
	row      int
	script   string
	contains string
}{
	{260, "tool-add", "tool add"},
	{261, "tool-get", "tool get"},
	{262, "tool-list", "tool list"},
	{263, "tool-remove", "tool remove"},
	{264, "tooltest", "tool test"},
	{265, "toolvalidate", "flowrun tool validate"},
	{266, "tool-edit", "tool edit"},
	{267, "tool-get", "tool export"},
	{268, "tool-import", "tool import"},
	{270, "tool-add-options", "--description"},
	{271, "tool-add-options", "--bash"},
	{272, "tool-add-options", "--cmd"},
	{273, "tool-add-options", "--pwsh"},
	{274, "tool-add-options", "--run"},
	{275, "tool-add-options", "--script"},
	{276, "tool-add-options", "--shell"},
	{277, "tool-add", "--from-file"},
	{278, "tool-add", "--editor"},
	{279, "tool-add-options", "--command-default"},
	{280, "tool-add-options", "--command-windows"},
	{281, "tool-add-options", "--command-linux"},
	{282, "tool-add-options", "--command-macos"},
	{283, "tool-add-options", "--step"},
	{284, "tool-add-options", "--continue-on-error"},
	{285, "tool-add-options", "--run-condition"},
	{286, "tool-add-options", "--parallel"},
	{287, "tool-add-options", "--wait-for"},
	{288, "tool-add-options", "--retry-attempts"},
	{289, "tool-add-options", "--retry-delay"},
	{290, "tool-add-options", "--fallback"},
	{291, "tool-add-options", "--output-mode"},
	{292, "tool-add-options", "--output-buffer-limit"},
	{293, "tool-add-options", "--step-command-default"},
	{293, "tool-add-options", "--step-command-windows"},
	{293, "tool-add-options", "--step-command-linux"},
	{293, "tool-add-options", "--step-command-macos"},
	{294, "tool-add-options", "--parameter"},
	{295, "tool-add-options", "type="},
	{295, "tool-add-options", "required="},
	{295, "tool-add-options", "default="},
	{295, "tool-add-options", "min-length="},
	{295, "tool-add-options", "max-length="},
	{295, "tool-add-options", "pattern="},
	{295, "tool-add-options", "min="},
	{295, "tool-add-options", "max="},
	{295, "tool-add-options", "enum="},
	{295, "tool-add-options", "transform="},
	{295, "tool-add-options", "format="},
	{295, "tool-add-options", "example="},
	{295, "tool-add-options", "escape-shell="},
	{300, "tool-add-options", "--platform"},
	{301, "tool-add-options", "--tag"},
	{302, "tool-add-options", "--timeout"},
	{303, "tool-add-options", "--working-directory"},
	{304, "tool-add-options", "--input"},
	{305, "tool-scope", "tool add a --description l --run true --scope local"},
	{306, "tool-add-options", "--security-privilege"},
	{307, "tool-add-options", "--security-isolation"},
	{308, "tool-add-options", "--security-permission"},
	{309, "tool-add-options", "--env-var"},
	{310, "tool-add-options", "--inherit-env"},
	{311, "tool-add-options", "--test"},
	{312, "tool-add-options", "--test-param"},
	{313, "tool-add-options", "--expect-exit-code"},
	{314, "tool-add-options", "--expect-output"},
	{315, "tool-add-options", "--expect-file-exists"},
	{316, "tool-add-options", "--cleanup"},
	{317, "tool-add", "--override"},
	{318, "tool-import", "flowrun tool get nameless | flowrun tool import -"},
	{320, "tooltest", "--scope"},
	{321, "tooltest", "--test"},
	{322, "tooltest", "--verbose"},
	{323, "tooltest", "--stop-on-failure"},
	{325, "tool-edit", "--scope user"},
	{326, "tool-edit", "--editor"},
	{330, "toolvalidate", "--scope"},
	{331, "tool-scope", "tool validate fixable --user --fix"},
	{332, "toolvalidate", "--detailed"},
	{335, "tool-get", "tool export deploy --output out.json --scope user"},
	{336, "tool-get", "tool export deploy --format json"},
	{337, "tool-get", "--output out.json"},
	{338, "tool-import", "--scope local"},
	{339, "tool-import", "--override"},
	{340, "tool-import", "--validate"},
	{341, "tool-get", "--scope user"},
	{342, "tool-get", "--format yaml"},
	{343, "tool-get", "--detail"},
	{344, "tool-list", "--scope local"},
	{345, "tool-list", "--format simple"},
	{345, "tool-list", "--format table"},
	{345, "tool-list", "--format json"},
	{345, "tool-list", "--format yaml"},
	{346, "tool-list", "--tag git --tag read"},
	{347, "tool-list", "--category"},
	{348, "tool-list", "--search"},
	{349, "tool-list", "--platform"},
	{350, "tool-list", "--sort name"},
	{350, "tool-list", "--sort category"},
	{350, "tool-list", "--sort scope"},
	{351, "tool-remove", "--scope user"},
	{352, "tool-remove", "--force"},
	{353, "tool-scope", " -g\n"},
	{353, "tool-scope", " -u\n"},
	{353, "tool-scope", " -l\n"},
	{353, "tool-scope", " -a\n"},
	{353, "tool-scope", " --global\n"},
	{353, "tool-scope", " --user\n"},
	{353, "tool-scope", " --local\n"},
	{353, "tool-scope", " --any\n"},
	{354, "tool-scope", "tool import - -a"},
	{355, "tool-list", "shadowed by"},
	{360, "tool-help", "help tool\n"},
	{361, "tool-help", "help tool add\n"},
	{362, "tool-help", "help tool test\n"},
	{363, "tool-help", "help tool get\n"},
	{364, "tool-help", "help tool list\n"},
	{365, "tool-help", "help tool remove\n"},
	{366, "tool-help", "help tool edit\n"},
	{367, "tool-help", "help tool export\n"},
	{368, "tool-help", "help tool import\n"},
	{369, "tool-help", "help tool validate\n"},
	{370, "tool-help", "help tools"},
	{371, "tool-add", "example1.sh"},
}

// optionRows are the rows that must be covered, from and to.
var optionRows = [][2]int{{260, 268}, {270, 295}, {300, 318}, {320, 323}, {325, 326}, {330, 332}, {335, 355}, {360, 371}}

// TestOptionsAreCovered fails when a row, or the script that shows it, is missing.
func TestOptionsAreCovered(t *testing.T) {
	done := map[int]bool{}
	for _, c := range covered {
		b, err := os.ReadFile("testdata/" + c.script + ".txtar")
		switch {
		case err != nil:
			t.Errorf("S1-%d: %v", c.row, err)
		case !strings.Contains(string(b), c.contains):
			t.Errorf("S1-%d: nothing in %s is about %q", c.row, c.script, c.contains)
		default:
			done[c.row] = true
		}
	}
	for _, r := range optionRows {
		for row := r[0]; row <= r[1]; row++ {
			if !done[row] {
				t.Errorf("S1-%d has no script", row)
			}
		}
	}
}
