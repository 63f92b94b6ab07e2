// Package shim writes small ELF shared objects without a compiler or linker.
//
// An object carries a soname and version nodes, so that the dynamic loader takes
// it for a library that it is not, depends on one other library, and may define
// functions that all end in one function of that library, which is told their
// names. That is all the virtual GPU needs of a stand-in, and it makes the
// stand-ins of a PyTorch that nobody has seen independent of the user's tools.
//
// It knows nothing about CUDA.
package shim

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
)

// An Object describes a shared object for 64-bit Linux.
type Object struct {
	Machine  elf.Machine // EM_X86_64 or EM_AARCH64
	Soname   string
	Needed   string   // the library it depends on, looked for beside it
	Versions []string // nodes it defines, none of them holding a symbol

	Target    string     // function of Needed in which Functions end
	Functions []Function // none when Target is empty
}

// A Function is one that an Object defines: it calls Target(Owner, Name) as C
// would, whatever it was called with, and returns what that returns.
type Function struct{ Name, Owner string }

// page separates what is read and run from what is written; 64 KiB is the
// largest page of any arm64 kernel.
const page = 1 << 16

// reach is how far a function's code can be from its strings on either machine.
const reach = 1 << 20

// machines says how a function looks on a processor.
var machines = map[elf.Machine]struct {
	size       int    // bytes of a function
	relocation uint32 // that puts the address of a symbol into a word
	code       func(at, owner, name, word uint64) []byte
}{
	elf.EM_X86_64:  {24, uint32(elf.R_X86_64_GLOB_DAT), codeX86},
	elf.EM_AARCH64: {20, uint32(elf.R_AARCH64_GLOB_DAT), codeARM},
}

// codeX86 loads both arguments relative to the instruction pointer and jumps
// through the word that the loader filled.
func codeX86(at, owner, name, word uint64) []byte {
	relative := func(code []byte, target, next uint64) []byte {
		return binary.LittleEndian.AppendUint32(code, uint32(int32(int64(target)-int64(next))))
	}
	code := []byte{0xf3, 0x0f, 0x1e, 0xfa}                        // endbr64
	code = relative(append(code, 0x48, 0x8d, 0x3d), owner, at+11) // lea rdi, [rip+owner]
	code = relative(append(code, 0x48, 0x8d, 0x35), name, at+18)  // lea rsi, [rip+name]
	return relative(append(code, 0xff, 0x25), word, at+24)        // jmp [rip+word]
}

// codeARM does the same; its three instructions reach one mebibyte either way.
func codeARM(at, owner, name, word uint64) []byte {
	adr := func(register uint32, from, to uint64) uint32 {
		d := uint32(int32(int64(to) - int64(from)))
		return 0x10000000 | d&3<<29 | d>>2&0x7ffff<<5 | register
	}
	var code []byte
	for _, instruction := range []uint32{
		0xd503245f,          // bti c
		adr(0, at+4, owner), // adr x0, owner
		adr(1, at+8, name),  // adr x1, name
		0x58000010 | uint32(int32(int64(word)-int64(at+12)))>>2&0x7ffff<<5, // ldr x16, word
		0xd61f0200, // br x16
	} {
		code = binary.LittleEndian.AppendUint32(code, instruction)
	}
	return code
}

// section is a part of the file that also has a section header.
type section struct {
	name           string
	kind           elf.SectionType
	flags          elf.SectionFlag
	link, info     uint32
	align, entry   uint64
	address, bytes uint64
}

// writer lays an object out: the file's offsets are the addresses.
type writer struct {
	object   Object
	out      bytes.Buffer
	sections []section
	strings  strtab
}

// Bytes is the object as a file.
func (o Object) Bytes() ([]byte, error) {
	m, ok := machines[o.Machine]
	switch {
	case !ok:
		return nil, fmt.Errorf("write shared object %s: no code is known for %v", o.Soname, o.Machine)
	case o.Soname == "" || (o.Target == "") != (len(o.Functions) == 0):
		return nil, fmt.Errorf("write shared object %q: a soname, and a target for functions, are needed", o.Soname)
	}
	w := &writer{object: o, sections: []section{{}}}
	w.collectStrings()
	if len(w.strings.text)+len(o.Functions)*m.size > reach-2*page {
		return nil, fmt.Errorf("write shared object %s: %d functions are too many", o.Soname, len(o.Functions))
	}
	w.layOut()
	return w.file()
}
