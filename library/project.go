package library

import "github.com/flowrun/flowrun/internal/os/projectfolder"

// ToolsProject returns the project of a folder whose tools are in .cycod, or "". The tools in .cycod of the home
// directory belong to the user, not to a project.
func ToolsProject(dir, home string) string { return projectfolder.ToolsProject(dir, home) }

// ProjectRoot returns the nearest folder that contains a folder .flowrun: dir or one above it, up to the root of the
// repository. It returns "" if there is none. Folders .flowrun that other users can write are skipped.
func ProjectRoot(dir string) string { return projectfolder.Root(dir) }
