package vfork

const (
	sysDup3        = 24
	sysFcntl       = 25
	sysIoctl       = 29
	sysChdir       = 49
	sysExit        = 93
	sysSigprocmask = 135
	sysSetsid      = 157
	sysExecve      = 221
	sysPrlimit     = 261
	sysSetns       = 268
	sysClone3      = 435
)
