package systrace

const (
	auditArch    = 0xc00000b7
	sysSeccomp   = 277
	sysRenameat2 = 276
	sysExecveat  = 281
	sysVMRead    = 270
)

func addOlder(map[int32]func(*stopped)) {}
