package users

import "slices"

// Role is what a user may do. Each role includes the roles before it.
type Role string

// Roles.
const (
	Viewer   Role = "viewer"   // sees runs, tools and schedules
	Operator Role = "operator" // also starts, stops and continues runs, and answers their questions
	Admin    Role = "admin"    // also changes definitions
)

// roles are all roles in ascending order.
var roles = []Role{Viewer, Operator, Admin}

// RoleNames returns the names of all roles.
func RoleNames() (names []string) {
	for _, r := range roles {
		names = append(names, string(r))
	}
	return names
}

// Includes reports whether the role is needed or a higher one. A role that does not exist includes
// nothing.
func (r Role) Includes(needed Role) bool {
	return slices.Contains(roles, r) && slices.Index(roles, r) >= slices.Index(roles, needed)
}
