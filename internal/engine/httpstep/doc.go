// Package httpstep runs steps of kind http. A compiled request and a call.Frame come in; a dag.Result with the response
// comes out. It renders the request so that values stay data in each position, says which hosts the step may reach, and
// judges the response. It does not know how requests are sent: Config.Fetch does that.
package httpstep
