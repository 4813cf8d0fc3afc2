package web

import (
	"fmt"
	"net/http"

	"github.com/flowrun/flowrun/internal/service/users"
)

// roleOf are the roles that routes need, by operationId. Other GET routes need a viewer, and all
// others an admin: a new route that changes something is closed until it is listed.
var roleOf = map[string]users.Role{
	"listAudit":      users.Admin,
	"startRun":       users.Operator,
	"cancelRun":      users.Operator,
	"resumeRun":      users.Operator,
	"retryRun":       users.Operator,
	"approve":        users.Operator,
	"reject":         users.Operator,
	"pauseSchedule":  users.Operator,
	"runSchedule":    users.Operator,
	"backfill":       users.Operator,
	"stopBackfill":   users.Operator,
	"dryRun":         users.Operator, // values of parameters can be confidential
	"resumeSchedule": users.Operator,
	"mcpSend":        users.Operator,
	"mcpListen":      users.Operator,
	"mcpEnd":         users.Operator,
	"logout":         users.Viewer,
}

// role returns the role that a route needs.
func (rt route) role() users.Role {
	needed, listed := roleOf[rt.id]
	switch {
	case listed:
		return needed
	case !changes(rt.method):
		return users.Viewer
	}
	return users.Admin
}

// changes reports whether requests with a method can change something.
func changes(method string) bool { return method != http.MethodGet && method != http.MethodHead }

// mayEdit reports whether the caller may change definitions. A definition can run anything, so a token
// for some tools is not enough.
func (c caller) mayEdit() bool { return c.Role.Includes(users.Admin) && c.allTools() && !c.readOnly }

// mayRun reports whether the caller may start and stop runs, and answer questions.
func (c caller) mayRun() bool { return c.Role.Includes(users.Operator) && !c.readOnly }

var errReadOnly = refuse(403, "read-only", "this service is read-only over the network", "use the commands of flowrun on the machine of the service, or start it without --read-only")

// errRole is the error for a caller whose role is not enough.
func errRole(has, needed users.Role) error {
	return refuse(403, "role", fmt.Sprintf("your role is %s, and this needs the role %s", has, needed), "ask the owner of the service for another role")
}
