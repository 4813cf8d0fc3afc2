package series

import (
	"bytes"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// ticks is the unit of times in /proc, as every Linux reports them to programs.
const ticks = 100

// processFamilies returns what the kernel knows of this process. Without /proc, there is less.
func processFamilies() []Family {
	var list []Family
	if raw, err := os.ReadFile("/proc/self/stat"); err == nil {
		_, rest, _ := strings.Cut(string(raw), ") ")
		list = append(list, statFamilies(strings.Fields(rest))...)
	}
	if names, err := os.ReadDir("/proc/self/fd"); err == nil {
		list = append(list, gauge("process_open_fds", "Number of open file descriptors.", float64(len(names))))
	}
	if raw, err := os.ReadFile("/proc/self/net/netstat"); err == nil {
		list = append(list,
			counter("process_network_receive_bytes_total", "Number of bytes received by the process over the network.", netstat(raw, "InOctets")),
			counter("process_network_transmit_bytes_total", "Number of bytes sent by the process over the network.", netstat(raw, "OutOctets")))
	}
	return append(list,
		gauge("process_max_fds", "Maximum number of open file descriptors.", limit(unix.RLIMIT_NOFILE)),
		gauge("process_virtual_memory_max_bytes", "Maximum amount of virtual memory available in bytes.", limit(unix.RLIMIT_AS)))
}

// statFamilies reads the fields of /proc/self/stat after the name of the program.
func statFamilies(fields []string) []Family {
	field := func(i int) float64 { // as proc_pid_stat(5) counts them
		if i -= 3; i >= len(fields) {
			return 0
		}
		v, _ := strconv.ParseFloat(fields[i], 64)
		return v
	}
	return []Family{
		counter("process_cpu_seconds_total", "Total user and system CPU time spent in seconds.", (field(14)+field(15))/ticks),
		gauge("process_start_time_seconds", "Start time of the process since unix epoch in seconds.", bootTime()+field(22)/ticks),
		gauge("process_virtual_memory_bytes", "Virtual memory size in bytes.", field(23)),
		gauge("process_resident_memory_bytes", "Resident memory size in bytes.", field(24)*float64(os.Getpagesize())),
	}
}

// bootTime returns when the system started, in seconds since 1970.
func bootTime() float64 {
	raw, _ := os.ReadFile("/proc/stat")
	_, rest, _ := bytes.Cut(raw, []byte("\nbtime "))
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	v, _ := strconv.ParseFloat(string(line), 64)
	return v
}

// netstat returns a number of the group IpExt: a line of names, and a line of numbers.
func netstat(raw []byte, name string) float64 {
	var names []string
	for line := range strings.Lines(string(raw)) {
		switch fields := strings.Fields(line); {
		case len(fields) == 0 || fields[0] != "IpExt:":
		case names == nil:
			names = fields
		default:
			for i := range min(len(names), len(fields)) {
				if names[i] == name {
					v, _ := strconv.ParseFloat(fields[i], 64)
					return v
				}
			}
		}
	}
	return 0
}

func limit(resource int) float64 {
	var l unix.Rlimit
	if unix.Getrlimit(resource, &l) != nil {
		return 0
	}
	return float64(l.Cur)
}
