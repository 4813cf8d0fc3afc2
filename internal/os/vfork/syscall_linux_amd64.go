package vfork

const (
	sysSigprocmask = 14
	sysIoctl       = 16
	sysExecve      = 59
	sysExit        = 60
	sysFcntl       = 72
	sysChdir       = 80
	sysSetsid      = 112
	sysDup3        = 292
	sysPrlimit     = 302
	sysSetns       = 308
	sysClone3      = 435
)
