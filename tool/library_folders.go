package tool

// Folder is a place where names are looked up.
type Folder struct {
	Scope Scope
	Path  string // which need not be there
}

// Folders are the places where the Library looks names up, in order (S1-002 to S1-005).
func (l *Library) Folders() []Folder {
	list := make([]Folder, len(l.folders))
	for i, f := range l.folders {
		list[i] = Folder{f.scope, f.path}
	}
	return list
}
