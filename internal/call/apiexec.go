package call

// StartDir is where a program starts that a tool runs: cwd, else where the tool's steps do.
func (a *Args) StartDir(cwd string) string {
	if cwd == "" {
		return a.dir
	}
	return a.World.Resolve(cwd)
}
