// Package builtin contains the tools that come with flowrun: files, search, the shell, the web, and notes of a model.
// Each one is a tool.Definition with a step in Go, so a model can call it, a person can run it, and a tool can use it
// as a step.
//
// # Files
//
// A call may work in granted folders, its roots: the run's workspace and those that settings name. A given path is
// first converted to a place (roots.go): it must be absolute, its links are resolved, and the result must be in a
// root. After that, the file system is only accessed through an os.Root of that folder with the relative path that
// was found, so a link that is created in the meantime cannot lead to other files. Only regular files are opened.
// Pipes and devices are not, because they could block a call forever, and neither is anything in /proc, /sys and
// /dev.
//
// Searches walk through folders (walk.go). They follow no links to folders, do not enter .git, leave out what
// .gitignore files name (ignore.go), and stop soon after the call's context is done. Everything that could grow
// without end has a limit, and the answer says what was left out because of it.
//
// Files are written atomically (write.go): to a temporary file in the same folder, which is then renamed.
package builtin
