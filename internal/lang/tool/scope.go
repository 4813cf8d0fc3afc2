package tool

// Scope is where a definition was found. A lookup by name searches the scopes go, local, user and global in this order
// and returns the first match; see Library.Lookup.
type Scope string

const (
	ScopeGo     Scope = "go"     // registered by the program, see Library.Add
	ScopeLocal  Scope = "local"  // .flowrun/tools in the working directory or above it
	ScopeUser   Scope = "user"   // the configuration of the user
	ScopeGlobal Scope = "global" // the configuration of the machine
	ScopeFile   Scope = "file"   // named by path

	ScopeBuiltin    Scope = "builtin"    // part of the program, see Library.Provide
	ScopeDiscovered Scope = "discovered" // listed by a discovery command, see Library.Provide
	ScopeMCP        Scope = "mcp"        // offered by an MCP server, see Library.ProvideFrom
)
