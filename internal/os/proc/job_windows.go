package proc

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/flowrun/flowrun/internal/os/procid"
)

// job is an object of the system that holds processes: all that they start is in it too, whatever they do. A closed job
// is empty. Safe for concurrent use.
type job struct {
	mu     sync.Mutex
	handle windows.Handle // 0: closed. The system soon gives the number to another object
}

// newJob makes a job. If bound, the system ends its processes when this process ends, however it ends.
func newJob(bound bool) (*job, error) {
	h, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return nil, fmt.Errorf("cannot make a job for the processes of a step: %w", err)
	}
	if bound {
		var limits windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
		limits.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
		if _, err := windows.SetInformationJobObject(h, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits))); err != nil {
			windows.CloseHandle(h)
			return nil, fmt.Errorf("cannot bind the processes of a step to this one: %w", err)
		}
	}
	return &job{handle: h}, nil
}

// adopt takes a process into the job that was started suspended, and lets it run. If it cannot, it ends the process.
func (j *job) adopt(p *os.Process) error {
	var failed error
	err := p.WithHandle(func(process uintptr) { failed = windows.AssignProcessToJobObject(j.handle, windows.Handle(process)) })
	if err == nil {
		err = failed
	}
	if err == nil {
		err = resume(uint32(p.Pid))
	}
	if err != nil {
		p.Kill()
		p.Release()
		return fmt.Errorf("cannot take a process into the job of its step: %w", err)
	}
	return nil
}

// resume lets the threads of a process run.
func resume(pid uint32) error {
	snapshot, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPTHREAD, 0)
	if err != nil {
		return err
	}
	defer windows.CloseHandle(snapshot)
	entry := windows.ThreadEntry32{Size: uint32(unsafe.Sizeof(windows.ThreadEntry32{}))}
	for err = windows.Thread32First(snapshot, &entry); err == nil; err = windows.Thread32Next(snapshot, &entry) {
		if entry.OwnerProcessID != pid {
			continue
		}
		thread, err := windows.OpenThread(windows.THREAD_SUSPEND_RESUME, false, entry.ThreadID)
		if err != nil {
			return err
		}
		_, err = windows.ResumeThread(thread)
		windows.CloseHandle(thread)
		return err // a suspended process has one thread
	}
	return err
}

// killedCode is the exit code of a process that was ended, as the Task Manager sets it.
const killedCode = 1

func (j *job) kill() {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.handle != 0 {
		windows.TerminateJobObject(j.handle, killedCode)
	}
}

func (j *job) close() {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.handle != 0 {
		windows.CloseHandle(j.handle)
	}
	j.handle = 0
}

// query asks the system for something about the job, and returns whether it has answered, be it in part.
func (j *job) query(class int32, answer unsafe.Pointer, size uintptr) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.handle == 0 {
		return false
	}
	err := windows.QueryInformationJobObject(j.handle, class, uintptr(answer), uint32(size), nil)
	return err == nil || errors.Is(err, windows.ERROR_MORE_DATA)
}

// processes returns the processes that are in the job now, at most as many as one question answers.
func (j *job) processes() (list []procid.Info) {
	var ids struct {
		assigned, listed uint32
		pid              [1000]uintptr
	}
	if !j.query(windows.JobObjectBasicProcessIdList, unsafe.Pointer(&ids), unsafe.Sizeof(ids)) {
		return nil
	}
	for _, pid := range ids.pid[:ids.listed] {
		list = append(list, procid.Info{PID: int(pid), Name: imageName(uint32(pid))})
	}
	return list
}

// imageName returns the name of the file that a process executes.
func imageName(pid uint32) string {
	const unknown = "a process"
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, pid)
	if err != nil {
		return unknown
	}
	defer windows.CloseHandle(h)
	var name [windows.MAX_LONG_PATH]uint16
	size := uint32(len(name))
	if err := windows.QueryFullProcessImageName(h, 0, &name[0], &size); err != nil {
		return unknown
	}
	return filepath.Base(windows.UTF16ToString(name[:size]))
}

// usage returns what the processes of the job have used, those that have ended included.
func (j *job) usage() Usage {
	var used struct {
		user, system             int64 // 100 ns
		periodUser, periodSystem int64
		faults                   uint32
		total, active, ended     uint32
	}
	if !j.query(windows.JobObjectBasicAccountingInformation, unsafe.Pointer(&used), unsafe.Sizeof(used)) {
		return Usage{}
	}
	return Usage{User: time.Duration(used.user) * 100, System: time.Duration(used.system) * 100}
}
