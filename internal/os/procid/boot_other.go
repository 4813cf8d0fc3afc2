//go:build !linux

package procid

import "time"

func namespace() string { return "" }

// BootID returns "": only Linux names its boots.
func BootID() string { return "" }

// Uptime returns the wall clock's time since 1970. It jumps when the clock is set.
func Uptime() time.Duration { return time.Duration(time.Now().UnixNano()) }
