// Package author holds the commands that help to write a first tool: init, import, explain, docs, graph
// and schema. Commands that check and manage tools are in package tools.
package author

import "github.com/flowrun/flowrun/internal/cli/ui"

// Commands returns the commands of this package.
func Commands() []ui.Command {
	return ui.InGroup(ui.GroupAuthor, ui.Named("init", initCommand), ui.Named("explain", explainCommand), ui.Named("docs", docsCommand), ui.Named("graph", graphCommand), ui.Named("schema", schemaCommand), ui.Named("import", importCommand))
}
