// Package builtin are the tools that come with flowrun: files, searching, the shell, the
// web, and what a model keeps for itself. Each is a tool.Definition with one step
// in Go, so it is called by a model, run by a person and used as a step all the same.
//
// # Files
//
// A call may work in granted folders, its roots: the run's workspace and those that
// settings name. Of a path that is given there is first made a place (roots.go): it must be
// absolute, its links are resolved, and what comes of that must lie in a root. From there
// on the file system is touched only through an os.Root of that folder, with the way that
// was found; a link that somebody puts there meanwhile leads nowhere else. Only regular
// files are opened, never pipes and devices, which could make a call wait for ever, and
// nothing of /proc, /sys and /dev.
//
// Searches go through folders by themselves (walk.go). They follow no links to folders, do
// not enter .git, leave out what .gitignore files name (ignore.go), and stop soon after the
// call's context is done. What could grow without end has a limit, and whatever is left out
// for it is said in the answer.
//
// Files are written whole or not at all (write.go): beside their place, and then renamed.
package builtin
