package shim

import (
	"debug/elf"
	"encoding/binary"
	"slices"
)

var order = binary.LittleEndian

// headers are the file's header and four program headers.
const (
	headerBytes  = 64
	programBytes = 56
	programs     = 4
)

// Names of the sections that others refer to.
const (
	secHash    = ".hash"
	secDynsym  = ".dynsym"
	secDynstr  = ".dynstr"
	secVersym  = ".gnu.version"
	secVerdef  = ".gnu.version_d"
	secRela    = ".rela.dyn"
	secText    = ".text"
	secDynamic = ".dynamic"
	secGot     = ".got"
)

// plan lists the sections that an object has, in the order of the file; their
// places in it are the numbers by which sections refer to one another. Linkers
// do not accept symbol versions beside an absent list of versions.
func (o Object) plan() []string {
	names := []string{"", secHash, secDynsym, secDynstr}
	if len(o.Versions) > 0 {
		names = append(names, secVersym, secVerdef)
	}
	if o.Target != "" {
		names = append(names, secRela, secText)
	}
	return append(names, secDynamic, secGot)
}

func (w *writer) index(name string) uint32 { return uint32(slices.Index(w.object.plan(), name)) }

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

// defined lists what the dynamic symbol table defines, in its order: an absolute
// symbol for each version node, as linkers make and expect one, then the functions.
// Before them stand an empty entry and the target, if there is one.
func (o Object) defined() []string {
	names := slices.Clone(o.Versions)
	for _, f := range o.Functions {
		names = append(names, f.Name)
	}
	return names
}

func (o Object) firstDefined() int {
	if o.Target == "" {
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
	count := o.firstDefined() + len(o.defined())

	w.writeHash(count)
	symtab := w.sectionStart(8)
	stringsAt := symtab + uint64(count)*24
	end := stringsAt + uint64(len(w.strings.text))
	if n := uint64(len(o.Versions)); n > 0 {
		end = alignUp(alignUp(end, 2)+uint64(count)*2, 8) + (n+1)*verdefBytes
	}
	text := uint64(0)
	size := uint64(machines[o.Machine].size)
	if o.Target != "" {
		text = alignUp(alignUp(end, 8)+24, 16)
		end = text + uint64(len(o.Functions))*size
	}
	dynamic := alignUp(end, page)
	got := dynamic + uint64(len(w.dynamic()))*16

	w.writeSymbols(text, size)
	w.writeStrings()
	if len(o.Versions) > 0 {
		w.writeVersions(count)
	}
	if o.Target != "" {
		w.writeRelocation(got)
		w.writeCode(text, stringsAt, got)
	}
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
	names := w.object.defined()
	buckets := make([]uint32, max(1, len(names)))
	chains := make([]uint32, count)
	for i, name := range names {
		index := uint32(w.object.firstDefined() + i)
		b := sysvHash(name) % uint32(len(buckets))
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
	w.end(start, section{name: secHash, kind: elf.SHT_HASH, flags: elf.SHF_ALLOC, link: w.index(secDynsym), align: 8, entry: 4})
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
	for _, node := range w.object.Versions {
		symbol(node, elf.SHN_ABS, 0, 0, elf.STT_OBJECT)
	}
	for i, f := range w.object.Functions {
		symbol(f.Name, elf.SectionIndex(w.index(secText)), text+uint64(i)*size, size, elf.STT_FUNC)
	}
	w.end(start, section{name: secDynsym, kind: elf.SHT_DYNSYM, flags: elf.SHF_ALLOC, link: w.index(secDynstr), info: 1, align: 8, entry: 24})
}

func (w *writer) writeStrings() {
	start := w.out.Len()
	w.out.Write(w.strings.text)
	w.end(start, section{name: secDynstr, kind: elf.SHT_STRTAB, flags: elf.SHF_ALLOC, align: 1})
}

// verdefBytes is a version definition with its one name.
const verdefBytes = 20 + 8

// writeVersions writes the version of each symbol, which only a node's own has,
// and the nodes. The first node is the object itself.
func (w *writer) writeVersions(count int) {
	w.begin(2)
	start := w.out.Len()
	const local, global = 0, 1
	w.u16(local)
	for i := 1; i < count; i++ {
		node := i - w.object.firstDefined()
		if node >= 0 && node < len(w.object.Versions) {
			w.u16(uint16(node + 2))
		} else {
			w.u16(global)
		}
	}
	w.end(start, section{name: secVersym, kind: elf.SHT_GNU_VERSYM, flags: elf.SHF_ALLOC, link: w.index(secDynsym), align: 2, entry: 2})

	w.begin(8)
	start = w.out.Len()
	nodes := append([]string{w.object.Soname}, w.object.Versions...)
	for i, node := range nodes {
		const base = 1
		flags, next := uint16(0), uint32(verdefBytes)
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
	w.end(start, section{name: secVerdef, kind: elf.SHT_GNU_VERDEF, flags: elf.SHF_ALLOC, link: w.index(secDynstr), info: uint32(len(nodes)), align: 8})
}

func (w *writer) writeRelocation(got uint64) {
	w.begin(8)
	start := w.out.Len()
	w.u64(got)
	w.u64(1<<32 | uint64(machines[w.object.Machine].relocation)) // of symbol 1, the target
	w.u64(0)
	w.end(start, section{name: secRela, kind: elf.SHT_RELA, flags: elf.SHF_ALLOC, link: w.index(secDynsym), align: 8, entry: 24})
}

func (w *writer) writeCode(text, stringsAt, got uint64) {
	w.begin(16)
	start := w.out.Len()
	m := machines[w.object.Machine]
	for i, f := range w.object.Functions {
		at := text + uint64(i*m.size)
		w.out.Write(m.code(at, stringsAt+uint64(w.strings.add(f.Owner)), stringsAt+uint64(w.strings.add(f.Name)), got))
	}
	w.end(start, section{name: secText, kind: elf.SHT_PROGBITS, flags: elf.SHF_ALLOC | elf.SHF_EXECINSTR, align: 16})
}
