package vgpu

import (
	"debug/elf"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Imports is what a set of shared objects asks of NVIDIA's libraries.
type Imports struct {
	// Sonames maps each soname to the version nodes asked of it, sorted.
	Sonames map[string][]string
	// Symbols maps each undefined name to the library it belongs to ("cudart").
	Symbols map[string]string
}

// fileImports is what one shared object asks for; it is what the cache keeps.
type fileImports struct {
	Needed   []string            `json:"needed,omitempty"`
	Versions map[string][]string `json:"versions,omitempty"` // soname -> nodes
	Symbols  []string            `json:"symbols,omitempty"`
}

// readImports reads the CUDA side of one shared object's dynamic section.
func (ls libraries) readImports(path string) (fileImports, error) {
	var imports fileImports
	f, err := elf.Open(path)
	if err != nil {
		return imports, fmt.Errorf("read imports of %s: %w", path, err)
	}
	defer func() { _ = f.Close() }()
	needed, err := f.DynString(elf.DT_NEEDED)
	if err != nil {
		return imports, fmt.Errorf("read imports of %s: %w", path, err)
	}
	for _, soname := range needed {
		if _, ok := ls.bySoname(soname); ok {
			imports.Needed = append(imports.Needed, soname)
		}
	}
	if len(imports.Needed) == 0 {
		return imports, nil
	}
	symbols, err := f.ImportedSymbols()
	if err != nil {
		return imports, fmt.Errorf("read imports of %s: %w", path, err)
	}
	versions := map[string]map[string]bool{}
	for _, s := range symbols {
		_, cuda := ls.bySoname(s.Library)
		if s.Library == "" {
			_, cuda = ls.bySymbol(s.Name)
		}
		if !cuda {
			continue
		}
		imports.Symbols = append(imports.Symbols, s.Name)
		if s.Version != "" {
			if versions[s.Library] == nil {
				versions[s.Library] = map[string]bool{}
			}
			versions[s.Library][s.Version] = true
		}
	}
	slices.Sort(imports.Symbols)
	imports.Symbols = slices.Compact(imports.Symbols)
	imports.Versions = map[string][]string{}
	for soname, nodes := range versions {
		imports.Versions[soname] = slices.Sorted(maps.Keys(nodes))
	}
	return imports, nil
}

// skipped are folders of packages that hold no importers of CUDA but many
// files, or NVIDIA's own libraries, which the shims replace.
var skipped = map[string]bool{
	"__pycache__": true, "include": true, "tests": true, "test": true, "nvidia": true,
	"numpy": true, "pandas": true, "scipy": true, "sympy": true, "matplotlib": true, "pip": true, "setuptools": true,
}

// sharedObjects lists the shared objects below the package folders.
func sharedObjects(folders []string) ([]string, error) {
	var files []string
	for _, dir := range folders {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return nil // a folder that cannot be read imports nothing
			}
			if d.IsDir() {
				if path != dir && (skipped[d.Name()] || strings.HasSuffix(d.Name(), ".dist-info") || strings.HasSuffix(d.Name(), ".libs")) {
					return fs.SkipDir
				}
				return nil
			}
			if strings.HasSuffix(d.Name(), ".so") {
				files = append(files, path)
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("list shared objects of %s: %w", dir, err)
		}
	}
	return files, nil
}

// scanThroughCache scans with the cache in a file.
func (ls libraries) scanThroughCache(t Torch, file string) (Imports, error) {
	cache := openScanCache(file)
	imports, err := ls.scan(t, cache)
	if err != nil {
		return imports, err
	}
	return imports, cache.save()
}

// scan reads what PyTorch and its companions ask for, through the cache.
func (ls libraries) scan(t Torch, c *scanCache) (Imports, error) {
	folders := t.SitePackages
	if parent := filepath.Dir(t.Dir); !slices.Contains(folders, parent) {
		folders = append(slices.Clone(folders), t.Dir)
	}
	files, err := sharedObjects(folders)
	if err != nil {
		return Imports{}, err
	}
	sonames := map[string]map[string]bool{}
	symbols := map[string]string{}
	for _, path := range files {
		info, err := os.Stat(path)
		if err != nil {
			continue
		}
		imports, ok := c.get(path, info)
		if !ok {
			// A damaged or foreign file is not PyTorch's: it imports nothing.
			imports, _ = ls.readImports(path)
			c.put(path, info, imports)
		}
		if imports.otherRuntime(t.CUDANumber() / 1000) {
			continue
		}
		ls.add(imports, sonames, symbols)
	}
	result := Imports{Sonames: map[string][]string{}, Symbols: symbols}
	for soname, nodes := range sonames {
		result.Sonames[soname] = slices.Sorted(maps.Keys(nodes))
	}
	return result, nil
}

// runtimeMajor finds the major version in the soname of the CUDA runtime.
var runtimeMajor = regexp.MustCompile(`^libcudart[^/]*\.so\.(\d+)`)

// otherRuntime says that a file is built for another CUDA than PyTorch, as
// those of bitsandbytes are, which brings one for each.
func (f fileImports) otherRuntime(major int) bool {
	for _, soname := range f.Needed {
		if m := runtimeMajor.FindStringSubmatch(soname); m != nil && m[1] != strconv.Itoa(major) {
			return true
		}
	}
	return false
}

func (ls libraries) add(imports fileImports, sonames map[string]map[string]bool, symbols map[string]string) {
	for _, soname := range imports.Needed {
		if sonames[soname] == nil {
			sonames[soname] = map[string]bool{}
		}
	}
	for soname, nodes := range imports.Versions {
		if sonames[soname] == nil {
			sonames[soname] = map[string]bool{}
		}
		for _, node := range nodes {
			sonames[soname][node] = true
		}
	}
	for _, name := range imports.Symbols {
		if l, ok := ls.bySymbol(name); ok {
			symbols[name] = l.name
		} else {
			symbols[name] = "other"
		}
	}
}
