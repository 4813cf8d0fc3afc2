// Package egress is the way out of the network namespace of steps: a proxy in this process that
// connects only to what the permissions of the steps grant. Programs that embed flowrun need it for
// tools whose enforced permissions name hosts:
//
//	engine := flowrun.New(flowrun.Config{Egress: egress.Serve})
//
// Programs in the namespace find the proxy through HTTP_PROXY and the like. It takes CONNECT, for
// everything that runs over TCP, and requests with an absolute address of http. For a granted port of
// this machine there is a listener in the namespace, so that programs without proxies reach it too.
//
// The name is checked when a request arrives, and the address when the connection to it is made, so a
// name that changes its address in between gains nothing. The proxy resolves names; there is no other
// DNS in the namespace. Requests are read by net/http and written anew, so what was checked is what
// is sent.
//
// Each step reaches the proxy at a loopback address of its own. That address says which step was
// refused something; it grants nothing. A proxy that other users of the machine can reach, as the one
// that only records what a run needs, has a password.
package egress
