package monitor

import (
	"strconv"

	"github.com/plimsoll-dev/plimsoll/series"
)

// A DriverCode is what NVML returns (nvml.h, nvmlReturn_t). nvidia-smi ends with
// the same number.
type DriverCode int

// The codes that are told apart.
const (
	CodeOK              DriverCode = 0
	CodeUninitialized   DriverCode = 1
	CodeNotSupported    DriverCode = 3
	CodeNoPermission    DriverCode = 4
	CodeNotLoaded       DriverCode = 9
	CodeTimeout         DriverCode = 10
	CodeNoLibrary       DriverCode = 12
	CodeNoFunction      DriverCode = 13
	CodeLost            DriverCode = 15
	CodeResetRequired   DriverCode = 16
	CodeBlocked         DriverCode = 17
	CodeVersionMismatch DriverCode = 18
	CodeStructVersion   DriverCode = 25
	CodeGone            DriverCode = 28
)

// troubles are what codes mean, and what to try.
var troubles = map[DriverCode]struct {
	status    series.Status
	msg, hint string
}{
	CodeUninitialized:   {series.Failed, "the driver's library was shut down", "start again"},
	CodeNotSupported:    {series.NotSupported, "the driver does not support this", ""},
	CodeNoPermission:    {series.NoPermission, "the driver does not permit this user", "ask for access to /dev/nvidia*, or run as root"},
	CodeNotLoaded:       {series.Failed, "the driver of the GPUs is not loaded", "load it with modprobe nvidia, and see dmesg if that fails"},
	CodeTimeout:         {series.Stuck, "the driver did not answer in time", "see dmesg for XID errors"},
	CodeNoLibrary:       {series.NotSupported, "there is no libnvidia-ml.so.1", "install NVIDIA's driver; in a container, start it with --gpus all"},
	CodeNoFunction:      {series.NotSupported, "the driver is too old for this", "install a newer driver"},
	CodeLost:            {series.Lost, "the GPU is lost: it fell off the bus or cannot be reached", "see dmesg for XID 79; restart the machine, and reseat the card if it happens again"},
	CodeResetRequired:   {series.Failed, "the GPU must be reset before it can be used", "end what runs on it and reset it with nvidia-smi --gpu-reset, or restart the machine"},
	CodeBlocked:         {series.NoPermission, "the operating system blocks access to the GPU", "allow the devices in the container's or job's cgroup"},
	CodeVersionMismatch: {series.Failed, "driver and library are of different versions, as after an update", "restart the machine, or reload the nvidia modules"},
	CodeStructVersion:   {series.NotSupported, "the driver does not know this version of the call", ""},
	CodeGone:            {series.Lost, "the GPU is no longer there", "see dmesg"},
}

// Status is what a code means for a value.
func (c DriverCode) Status() series.Status {
	if c == CodeOK {
		return series.OK
	}
	if t, ok := troubles[c]; ok {
		return t.status
	}
	return series.Failed
}

// String is the sentence of a code, without a full stop.
func (c DriverCode) String() string {
	if t, ok := troubles[c]; ok {
		return t.msg
	}
	return "the driver returned error " + strconv.Itoa(int(c))
}

// Unavailable is what a source says that got c when it began.
func (c DriverCode) Unavailable(source string) *Unavailable {
	return &Unavailable{Source: source, Status: c.Status(), Msg: c.String() + " (code " + strconv.Itoa(int(c)) + ")", Hint: troubles[c].hint}
}
