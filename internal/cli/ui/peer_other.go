//go:build !linux && !darwin

package ui

import "net"

// peer is not known here: the folder that the socket is in is what protects it.
func peer(*net.UnixConn) (uid int, known bool, err error) { return 0, false, nil }
