package compile

import (
	"slices"
)

// localNames are what loops and handlers around put into scope, as far as JavaScript
// can name it.
func (n names) localNames() []string {
	var list []string
	for at := &n; at != nil; at = at.around {
		for name := range at.locals {
			if nameable(name) && !slices.Contains(list, name) {
				list = append(list, name)
			}
		}
	}
	slices.Sort(list)
	return list
}
