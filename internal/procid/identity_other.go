//go:build !linux

package procid

import "time"

func ownStart() uint64 { return 0 }

func namespace() string { return "" }

// BootID is "": only Linux names its boots.
func BootID() string { return "" }

// Uptime is the wall clock's time since 1970: it jumps when the clock is set.
func Uptime() time.Duration { return time.Duration(time.Now().UnixNano()) }
