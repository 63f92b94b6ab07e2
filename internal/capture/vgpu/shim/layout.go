package shim

import (
	"debug/elf"
	"encoding/binary"
)

var order = binary.LittleEndian

// headers are the file's header and four program headers.
const (
	headerBytes  = 64
	programBytes = 56
	programs     = 4
)

// Indices of the sections, in the order in which layOut writes them.
const (
	secHash = iota + 1
	secDynsym
	secDynstr
	secVersym
	secVerdef
	secRela
	secText
	secDynamic
	secGot
)

// runpath makes the loader look for Needed beside the object.
const runpath = "$ORIGIN"

func (w *writer) collectStrings() {
	o := w.object
	for _, s := range append([]string{o.Soname, o.Needed, runpath, o.Target}, o.Versions...) {
		w.strings.add(s)
	}
	for _, f := range o.Functions {
		w.strings.add(f.Name)
		w.strings.add(f.Owner)
	}
}

// symbols is the dynamic symbol table: an empty entry, the target if there is
// one, then the functions.
func (w *writer) firstFunction() int {
	if w.object.Target == "" {
		return 1
	}
	return 2
}

func (w *writer) begin(align uint64) {
	for uint64(w.out.Len())%align != 0 {
		w.out.WriteByte(0)
	}
}

// end notes what was written since an offset as a section.
func (w *writer) end(start int, s section) {
	s.address = uint64(start)
	s.bytes = uint64(w.out.Len() - start)
	w.sections = append(w.sections, s)
}

func (w *writer) u16(v uint16) { w.out.Write(order.AppendUint16(nil, v)) }
func (w *writer) u32(v uint32) { w.out.Write(order.AppendUint32(nil, v)) }
func (w *writer) u64(v uint64) { w.out.Write(order.AppendUint64(nil, v)) }

// layOut writes all sections behind room for the headers. What refers forward,
// the symbols, relocations and code, is written with addresses that are known
// beforehand, since every size is.
func (w *writer) layOut() {
	w.out.Write(make([]byte, headerBytes+programs*programBytes))
	o := w.object
	count := w.firstFunction() + len(o.Functions)

	w.writeHash(count)
	symtab := w.sectionStart(8)
	stringsAt := symtab + uint64(count)*24
	versym := alignUp(stringsAt+uint64(len(w.strings.text)), 2)
	verdef := alignUp(versym+uint64(count)*2, 8)
	rela := alignUp(verdef+w.verdefBytes(), 8)
	relas := uint64(0)
	if o.Target != "" {
		relas = 1
	}
	text := alignUp(rela+relas*24, 16)
	size := uint64(machines[o.Machine].size)
	dynamic := alignUp(text+uint64(len(o.Functions))*size, page)
	got := dynamic + uint64(len(w.dynamic()))*16

	w.writeSymbols(text, size)
	w.writeStrings()
	w.writeVersions(count)
	w.writeRelocation(got)
	w.writeCode(text, stringsAt, got)
	w.writeDynamic(got)
}

func alignUp(n, align uint64) uint64 { return (n + align - 1) / align * align }

func (w *writer) sectionStart(align uint64) uint64 {
	w.begin(align)
	return uint64(w.out.Len())
}

func (w *writer) writeHash(count int) {
	w.begin(8)
	start := w.out.Len()
	functions := w.object.Functions
	buckets := make([]uint32, max(1, len(functions)))
	chains := make([]uint32, count)
	for i, f := range functions {
		index := uint32(w.firstFunction() + i)
		b := sysvHash(f.Name) % uint32(len(buckets))
		chains[index] = buckets[b]
		buckets[b] = index
	}
	w.u32(uint32(len(buckets)))
	w.u32(uint32(count))
	for _, list := range [][]uint32{buckets, chains} {
		for _, v := range list {
			w.u32(v)
		}
	}
	w.end(start, section{name: ".hash", kind: elf.SHT_HASH, flags: elf.SHF_ALLOC, link: secDynsym, align: 8, entry: 4})
}

func (w *writer) writeSymbols(text, size uint64) {
	w.begin(8)
	start := w.out.Len()
	symbol := func(name string, index elf.SectionIndex, value, bytes uint64, kind elf.SymType) {
		w.u32(w.strings.add(name))
		w.out.WriteByte(elf.ST_INFO(elf.STB_GLOBAL, kind))
		w.out.WriteByte(0)
		w.u16(uint16(index))
		w.u64(value)
		w.u64(bytes)
	}
	w.out.Write(make([]byte, 24))
	if w.object.Target != "" {
		symbol(w.object.Target, elf.SHN_UNDEF, 0, 0, elf.STT_NOTYPE)
	}
	for i, f := range w.object.Functions {
		symbol(f.Name, secText, text+uint64(i)*size, size, elf.STT_FUNC)
	}
	w.end(start, section{name: ".dynsym", kind: elf.SHT_DYNSYM, flags: elf.SHF_ALLOC, link: secDynstr, info: 1, align: 8, entry: 24})
}

func (w *writer) writeStrings() {
	start := w.out.Len()
	w.out.Write(w.strings.text)
	w.end(start, section{name: ".dynstr", kind: elf.SHT_STRTAB, flags: elf.SHF_ALLOC, align: 1})
}

// A version definition is 20 bytes and one name of 8.
func (w *writer) verdefBytes() uint64 {
	if len(w.object.Versions) == 0 {
		return 0
	}
	return uint64(len(w.object.Versions)+1) * 28
}

// writeVersions writes the version of each symbol, which is none, and the nodes.
// The first node is the object itself.
func (w *writer) writeVersions(count int) {
	w.begin(2)
	start := w.out.Len()
	const local, global = 0, 1
	w.u16(local)
	for range count - 1 {
		w.u16(global)
	}
	w.end(start, section{name: ".gnu.version", kind: elf.SHT_GNU_VERSYM, flags: elf.SHF_ALLOC, link: secDynsym, align: 2, entry: 2})

	w.begin(8)
	start = w.out.Len()
	nodes := append([]string{w.object.Soname}, w.object.Versions...)
	if len(nodes) == 1 {
		nodes = nil
	}
	for i, node := range nodes {
		const base = 1
		flags, next := uint16(0), uint32(28)
		if i == 0 {
			flags = base
		}
		if i == len(nodes)-1 {
			next = 0
		}
		w.u16(1) // version of the structure
		w.u16(flags)
		w.u16(uint16(i + 1))
		w.u16(1) // names
		w.u32(sysvHash(node))
		w.u32(20) // to the name
		w.u32(next)
		w.u32(w.strings.add(node))
		w.u32(0)
	}
	w.end(start, section{name: ".gnu.version_d", kind: elf.SHT_GNU_VERDEF, flags: elf.SHF_ALLOC, link: secDynstr, info: uint32(len(nodes)), align: 8})
}

func (w *writer) writeRelocation(got uint64) {
	w.begin(8)
	start := w.out.Len()
	if w.object.Target != "" {
		w.u64(got)
		w.u64(1<<32 | uint64(machines[w.object.Machine].relocation))
		w.u64(0)
	}
	w.end(start, section{name: ".rela.dyn", kind: elf.SHT_RELA, flags: elf.SHF_ALLOC, link: secDynsym, align: 8, entry: 24})
}

func (w *writer) writeCode(text, stringsAt, got uint64) {
	w.begin(16)
	start := w.out.Len()
	m := machines[w.object.Machine]
	for i, f := range w.object.Functions {
		at := text + uint64(i*m.size)
		w.out.Write(m.code(at, stringsAt+uint64(w.strings.add(f.Owner)), stringsAt+uint64(w.strings.add(f.Name)), got))
	}
	w.end(start, section{name: ".text", kind: elf.SHT_PROGBITS, flags: elf.SHF_ALLOC | elf.SHF_EXECINSTR, align: 16})
}
