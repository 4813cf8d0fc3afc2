package procid

import (
	"errors"

	"golang.org/x/sys/windows"
)

// state asks for the process that has the pid now. One that somebody holds open can be found after its end.
func (i Identity) state() Liveness {
	if i.Start == 0 || i.PID <= 0 {
		return Unknown
	}
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION|windows.SYNCHRONIZE, false, uint32(i.PID))
	switch {
	case errors.Is(err, windows.ERROR_INVALID_PARAMETER):
		return Dead
	case err != nil:
		return Unknown
	}
	defer windows.CloseHandle(h)
	start, err := startOf(h)
	if err != nil {
		return Unknown
	}
	if ended, err := windows.WaitForSingleObject(h, 0); start != i.Start || err == nil && ended == windows.WAIT_OBJECT_0 {
		return Dead
	}
	return Alive
}

func ownStart() uint64 {
	start, _ := startOf(windows.CurrentProcess())
	return start
}

// startOf returns when a process started, in milliseconds since 1601.
func startOf(process windows.Handle) (uint64, error) {
	var began, ended, system, user windows.Filetime
	err := windows.GetProcessTimes(process, &began, &ended, &system, &user)
	return (uint64(began.HighDateTime)<<32 | uint64(began.LowDateTime)) / 10_000, err
}
