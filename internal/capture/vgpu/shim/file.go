package shim

import "debug/elf"

type tag struct {
	tag   elf.DynTag
	value uint64
}

// section finds a section that was written already; before, it is empty.
func (w *writer) section(name string) section {
	if i := int(w.index(name)); i >= 0 && i < len(w.sections) {
		return w.sections[i]
	}
	return section{}
}

// dynamic is what the loader reads first. Before the sections are written its
// values are wrong and its length is right.
func (w *writer) dynamic() []tag {
	at := func(name string) uint64 { return w.section(name).address }
	tags := []tag{{elf.DT_SONAME, uint64(w.strings.add(w.object.Soname))}}
	if w.object.Needed != "" {
		tags = append(tags, tag{elf.DT_NEEDED, uint64(w.strings.add(w.object.Needed))}, tag{elf.DT_RUNPATH, uint64(w.strings.add(runpath))})
	}
	tags = append(tags,
		tag{elf.DT_HASH, at(secHash)}, tag{elf.DT_SYMTAB, at(secDynsym)}, tag{elf.DT_SYMENT, 24},
		tag{elf.DT_STRTAB, at(secDynstr)}, tag{elf.DT_STRSZ, uint64(len(w.strings.text))})
	if len(w.object.Versions) > 0 {
		tags = append(tags, tag{elf.DT_VERSYM, at(secVersym)}, tag{elf.DT_VERDEF, at(secVerdef)}, tag{elf.DT_VERDEFNUM, uint64(len(w.object.Versions) + 1)})
	}
	if w.object.Target != "" {
		tags = append(tags, tag{elf.DT_RELA, at(secRela)}, tag{elf.DT_RELASZ, 24}, tag{elf.DT_RELAENT, 24})
	}
	return append(tags, tag{elf.DT_NULL, 0})
}

func (w *writer) writeDynamic(got uint64) {
	w.begin(page)
	start := w.out.Len()
	for _, t := range w.dynamic() {
		w.u64(uint64(t.tag))
		w.u64(t.value)
	}
	w.end(start, section{name: secDynamic, kind: elf.SHT_DYNAMIC, flags: elf.SHF_ALLOC | elf.SHF_WRITE, link: w.index(secDynstr), align: 8, entry: 16})
	start = int(got)
	w.u64(0)
	w.end(start, section{name: secGot, kind: elf.SHT_PROGBITS, flags: elf.SHF_ALLOC | elf.SHF_WRITE, align: 8, entry: 8})
}

// file adds section headers and fills in the headers at the beginning.
func (w *writer) file() ([]byte, error) {
	loaded := uint64(w.out.Len())
	var names strtab
	for _, s := range w.sections {
		names.add(s.name)
	}
	names.add(".shstrtab")
	start := w.out.Len()
	w.out.Write(names.text)
	w.end(start, section{name: ".shstrtab", kind: elf.SHT_STRTAB, align: 1})
	w.begin(8)
	sectionsAt := w.out.Len()
	for _, s := range w.sections {
		w.u32(names.add(s.name))
		w.u32(uint32(s.kind))
		w.u64(uint64(s.flags))
		if s.flags&elf.SHF_ALLOC != 0 {
			w.u64(s.address)
		} else {
			w.u64(0)
		}
		w.u64(s.address) // the offset in the file is the address
		w.u64(s.bytes)
		w.u32(s.link)
		w.u32(s.info)
		w.u64(s.align)
		w.u64(s.entry)
	}
	file := w.out.Bytes()
	copy(file, w.header(uint64(sectionsAt)))
	copy(file[headerBytes:], w.programHeaders(loaded))
	return file, nil
}

func (w *writer) header(sectionsAt uint64) []byte {
	h := append([]byte(elf.ELFMAG), byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT), 0)
	h = append(h, make([]byte, 8)...)
	h = order.AppendUint16(h, uint16(elf.ET_DYN))
	h = order.AppendUint16(h, uint16(w.object.Machine))
	h = order.AppendUint32(h, uint32(elf.EV_CURRENT))
	h = order.AppendUint64(h, 0) // no entry point
	h = order.AppendUint64(h, headerBytes)
	h = order.AppendUint64(h, sectionsAt)
	h = order.AppendUint32(h, 0)
	for _, v := range []int{headerBytes, programBytes, programs, 64, len(w.sections), len(w.sections) - 1} {
		h = order.AppendUint16(h, uint16(v))
	}
	return h
}

func (w *writer) programHeaders(loaded uint64) []byte {
	var p []byte
	add := func(kind elf.ProgType, flags elf.ProgFlag, at, bytes, align uint64) {
		p = order.AppendUint32(p, uint32(kind))
		p = order.AppendUint32(p, uint32(flags))
		for _, v := range []uint64{at, at, at, bytes, bytes, align} {
			p = order.AppendUint64(p, v)
		}
	}
	dynamic := w.section(secDynamic)
	before := w.sections[w.index(secDynamic)-1]
	add(elf.PT_LOAD, elf.PF_R|elf.PF_X, 0, before.address+before.bytes, page)
	add(elf.PT_LOAD, elf.PF_R|elf.PF_W, dynamic.address, loaded-dynamic.address, page)
	add(elf.PT_DYNAMIC, elf.PF_R|elf.PF_W, dynamic.address, dynamic.bytes, 8)
	add(elf.PT_GNU_STACK, elf.PF_R|elf.PF_W, 0, 0, 16)
	return p
}
