package bundle

import "slices"

// importable returns what importx can load: the packages of the request, and the parts of
// packages, such as mysql2/promise, that the tool's own file names in a call.
func (w *work) importable() []string {
	list := slices.Clone(w.request.Packages)
	for _, m := range compiled().importx.FindAllSubmatch(w.request.Source, -1) {
		name := string(m[1])
		_, ofNode := nodeModule(name)
		if _, isPackage := packageOf(name); isPackage && !ofNode && !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return list
}
