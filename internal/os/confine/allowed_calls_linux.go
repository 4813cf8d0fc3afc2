package confine

// callGroup is a reason for which system calls stay, and the calls.
type callGroup struct {
	reason string
	calls  []call
}

// call is a system call with its numbers; -1 where an architecture does not have it.
type call struct {
	name         string
	amd64, arm64 int16
}

// allowedCalls are the calls that an enforced step can make. Besides these there are clone, unshare, ioctl, prlimit64,
// socket and socketpair, whose arguments the filter reads. All others are denied, also those of kernels to come.
// docs/reference/isolation.md lists them.
var allowedCalls = []callGroup{
	{"its own memory", []call{
		{"brk", 12, 214}, {"mmap", 9, 222}, {"munmap", 11, 215}, {"mremap", 25, 216}, {"mprotect", 10, 226}, {"madvise", 28, 233}, {"mincore", 27, 232},
		{"msync", 26, 227}, {"mlock", 149, 228}, {"mlock2", 325, 284}, {"mlockall", 151, 230}, {"munlock", 150, 229}, {"munlockall", 152, 231},
		{"mbind", 237, 235}, {"get_mempolicy", 239, 236}, {"set_mempolicy", 238, 237}, {"set_mempolicy_home_node", 450, 450}, {"migrate_pages", 256, 238},
		{"move_pages", 279, 239}, {"pkey_alloc", 330, 289}, {"pkey_free", 331, 290}, {"pkey_mprotect", 329, 288}, {"membarrier", 324, 283},
		{"memfd_create", 319, 279}, {"memfd_secret", 447, 447}, {"mseal", 462, 462}, {"map_shadow_stack", 453, 453}, {"remap_file_pages", 216, 234},
		{"modify_ldt", 154, -1}, {"process_mrelease", 448, 448},
	}},
	{"files; Landlock decides which", []call{
		{"open", 2, -1}, {"openat", 257, 56}, {"openat2", 437, 437}, {"creat", 85, -1}, {"close", 3, 57}, {"close_range", 436, 436}, {"read", 0, 63},
		{"write", 1, 64}, {"readv", 19, 65}, {"writev", 20, 66}, {"pread64", 17, 67}, {"pwrite64", 18, 68}, {"preadv", 295, 69}, {"pwritev", 296, 70},
		{"preadv2", 327, 286}, {"pwritev2", 328, 287}, {"lseek", 8, 62}, {"stat", 4, -1}, {"fstat", 5, 80}, {"lstat", 6, -1}, {"newfstatat", 262, 79},
		{"statx", 332, 291}, {"access", 21, -1}, {"faccessat", 269, 48}, {"faccessat2", 439, 439}, {"chdir", 80, 49}, {"fchdir", 81, 50},
		{"getcwd", 79, 17}, {"mkdir", 83, -1}, {"mkdirat", 258, 34}, {"mknod", 133, -1}, {"mknodat", 259, 33}, {"rmdir", 84, -1}, {"unlink", 87, -1},
		{"unlinkat", 263, 35}, {"link", 86, -1}, {"linkat", 265, 37}, {"symlink", 88, -1}, {"symlinkat", 266, 36}, {"readlink", 89, -1},
		{"readlinkat", 267, 78}, {"rename", 82, -1}, {"renameat", 264, 38}, {"renameat2", 316, 276}, {"truncate", 76, 45}, {"ftruncate", 77, 46},
		{"fallocate", 285, 47}, {"chmod", 90, -1}, {"fchmod", 91, 52}, {"fchmodat", 268, 53}, {"fchmodat2", 452, 452}, {"chown", 92, -1},
		{"fchown", 93, 55}, {"lchown", 94, -1}, {"fchownat", 260, 54}, {"umask", 95, 166}, {"utime", 132, -1}, {"utimes", 235, -1}, {"futimesat", 261, -1},
		{"utimensat", 280, 88}, {"getdents", 78, -1}, {"getdents64", 217, 61}, {"dup", 32, 23}, {"dup2", 33, -1}, {"dup3", 292, 24}, {"fcntl", 72, 25},
		{"flock", 73, 32}, {"fsync", 74, 82}, {"fdatasync", 75, 83}, {"sync", 162, 81}, {"syncfs", 306, 267}, {"sync_file_range", 277, 84},
		{"readahead", 187, 213}, {"fadvise64", 221, 223}, {"sendfile", 40, 71}, {"copy_file_range", 326, 285}, {"splice", 275, 76}, {"tee", 276, 77},
		{"vmsplice", 278, 75}, {"getxattr", 191, 8}, {"lgetxattr", 192, 9}, {"fgetxattr", 193, 10}, {"getxattrat", 464, 464}, {"setxattr", 188, 5},
		{"lsetxattr", 189, 6}, {"fsetxattr", 190, 7}, {"setxattrat", 463, 463}, {"listxattr", 194, 11}, {"llistxattr", 195, 12}, {"flistxattr", 196, 13},
		{"listxattrat", 465, 465}, {"removexattr", 197, 14}, {"lremovexattr", 198, 15}, {"fremovexattr", 199, 16}, {"removexattrat", 466, 466},
		{"name_to_handle_at", 303, 264}, {"io_setup", 206, 0}, {"io_destroy", 207, 1}, {"io_submit", 209, 2}, {"io_cancel", 210, 3},
		{"io_getevents", 208, 4}, {"io_pgetevents", 333, 292}, {"cachestat", 451, 451}, {"statfs", 137, 43}, {"fstatfs", 138, 44}, {"ustat", 136, -1},
		{"inotify_init", 253, -1}, {"inotify_init1", 294, 26}, {"inotify_rm_watch", 255, 28},
	}},
	{"its own processes and threads, and signals to them", []call{
		{"fork", 57, -1}, {"vfork", 58, -1}, {"execve", 59, 221}, {"execveat", 322, 281}, {"exit", 60, 93}, {"exit_group", 231, 94}, {"wait4", 61, 260},
		{"waitid", 247, 95}, {"kill", 62, 129}, {"tkill", 200, 130}, {"tgkill", 234, 131}, {"pidfd_open", 434, 434}, {"pidfd_send_signal", 424, 424},
		{"rt_sigaction", 13, 134}, {"rt_sigprocmask", 14, 135}, {"rt_sigreturn", 15, 139}, {"rt_sigpending", 127, 136}, {"rt_sigtimedwait", 128, 137},
		{"rt_sigqueueinfo", 129, 138}, {"rt_tgsigqueueinfo", 297, 240}, {"rt_sigsuspend", 130, 133}, {"sigaltstack", 131, 132}, {"pause", 34, -1},
		{"setpgid", 109, 154}, {"getpgid", 121, 155}, {"getpgrp", 111, -1}, {"setsid", 112, 157}, {"getsid", 124, 156}, {"getpid", 39, 172},
		{"getppid", 110, 173}, {"gettid", 186, 178}, {"prctl", 157, 167}, {"arch_prctl", 158, -1}, {"set_thread_area", 205, -1},
		{"get_thread_area", 211, -1}, {"set_tid_address", 218, 96}, {"set_robust_list", 273, 99}, {"get_robust_list", 274, 100}, {"rseq", 334, 293},
		{"futex", 202, 98}, {"futex_waitv", 449, 449}, {"futex_wake", 454, 454}, {"futex_wait", 455, 455}, {"futex_requeue", 456, 456},
		{"restart_syscall", 219, 128}, {"personality", 135, 92}, {"uretprobe", 335, -1}, {"uprobe", 336, -1},
	}},
	{"its user and its rights, of which it gets none back", []call{
		{"getuid", 102, 174}, {"geteuid", 107, 175}, {"getgid", 104, 176}, {"getegid", 108, 177}, {"getresuid", 118, 148}, {"getresgid", 120, 150},
		{"getgroups", 115, 158}, {"setuid", 105, 146}, {"setgid", 106, 144}, {"setreuid", 113, 145}, {"setregid", 114, 143}, {"setresuid", 117, 147},
		{"setresgid", 119, 149}, {"setfsuid", 122, 151}, {"setfsgid", 123, 152}, {"setgroups", 116, 159}, {"capget", 125, 90}, {"capset", 126, 91},
		{"seccomp", 317, 277}, {"landlock_create_ruleset", 444, 444}, {"landlock_add_rule", 445, 445}, {"landlock_restrict_self", 446, 446},
	}},
	{"its priority, limits and use of the machine", []call{
		{"sched_yield", 24, 124}, {"sched_setparam", 142, 118}, {"sched_getparam", 143, 121}, {"sched_setscheduler", 144, 119},
		{"sched_getscheduler", 145, 120}, {"sched_get_priority_max", 146, 125}, {"sched_get_priority_min", 147, 126}, {"sched_rr_get_interval", 148, 127},
		{"sched_setaffinity", 203, 122}, {"sched_getaffinity", 204, 123}, {"sched_setattr", 314, 274}, {"sched_getattr", 315, 275},
		{"getpriority", 140, 141}, {"setpriority", 141, 140}, {"ioprio_set", 251, 30}, {"ioprio_get", 252, 31}, {"getrlimit", 97, 163},
		{"setrlimit", 160, 164}, {"getrusage", 98, 165}, {"times", 100, 153}, {"getcpu", 309, 168}, {"uname", 63, 160}, {"sysinfo", 99, 179},
		{"getrandom", 318, 278},
	}},
	{"reading clocks and waiting", []call{
		{"time", 201, -1}, {"gettimeofday", 96, 169}, {"clock_gettime", 228, 113}, {"clock_getres", 229, 114}, {"nanosleep", 35, 101},
		{"clock_nanosleep", 230, 115}, {"alarm", 37, -1}, {"getitimer", 36, 102}, {"setitimer", 38, 103}, {"timer_create", 222, 107},
		{"timer_settime", 223, 110}, {"timer_gettime", 224, 108}, {"timer_getoverrun", 225, 109}, {"timer_delete", 226, 111}, {"timerfd_create", 283, 85},
		{"timerfd_settime", 286, 86}, {"timerfd_gettime", 287, 87}, {"select", 23, -1}, {"pselect6", 270, 72}, {"poll", 7, -1}, {"ppoll", 271, 73},
		{"epoll_create", 213, -1}, {"epoll_create1", 291, 20}, {"epoll_ctl", 233, 21}, {"epoll_wait", 232, -1}, {"epoll_pwait", 281, 22},
		{"epoll_pwait2", 441, 441}, {"epoll_ctl_old", 214, -1}, {"epoll_wait_old", 215, -1},
	}},
	{"pipes, and sockets that its permissions let it make", []call{
		{"pipe", 22, -1}, {"pipe2", 293, 59}, {"eventfd", 284, -1}, {"eventfd2", 290, 19}, {"signalfd", 282, -1}, {"signalfd4", 289, 74},
		{"bind", 49, 200}, {"listen", 50, 201}, {"accept", 43, 202}, {"accept4", 288, 242}, {"connect", 42, 203}, {"getsockname", 51, 204},
		{"getpeername", 52, 205}, {"setsockopt", 54, 208}, {"getsockopt", 55, 209}, {"shutdown", 48, 210}, {"sendto", 44, 206}, {"recvfrom", 45, 207},
		{"sendmsg", 46, 211}, {"recvmsg", 47, 212}, {"sendmmsg", 307, 269}, {"recvmmsg", 299, 243},
	}},
}
