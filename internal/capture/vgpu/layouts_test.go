package vgpu

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A layout is a structure, or a field of one, that crosses the interface: our
// name, the real one, and the size or offset under CUDA 11, 12 and 13 on 64-bit
// Linux (-1: not there).
type layout struct {
	ours, theirs string
	want         [3]int
}

// layouts were taken off the headers of CUDA 11.7, 12.4 and 13.2;
// TestLayoutsAgainstHeaders takes them again.
var layouts = []layout{
	{"struct vgpu_prop", "struct cudaDeviceProp", [3]int{728, 1032, 1008}},
	{"struct vgpu_prop.uuid", "struct cudaDeviceProp.uuid", [3]int{256, 256, 256}},
	{"struct vgpu_prop.total_bytes", "struct cudaDeviceProp.totalGlobalMem", [3]int{288, 288, 288}},
	{"struct vgpu_prop.grid_dim", "struct cudaDeviceProp.maxGridSize", [3]int{336, 336, 336}},
	{"struct vgpu_prop.constant_bytes", "struct cudaDeviceProp.totalConstMem", [3]int{352, 352, 352}},
	{"struct vgpu_prop.major", "struct cudaDeviceProp.major", [3]int{360, 360, 360}},
	{"struct vgpu_prop.multiprocessors", "struct cudaDeviceProp.multiProcessorCount", [3]int{388, 388, 384}},
	{"struct vgpu_prop.integrated", "struct cudaDeviceProp.integrated", [3]int{396, 396, 388}},
	{"struct vgpu_prop.texture_1d", "struct cudaDeviceProp.maxTexture1D", [3]int{408, 408, 396}},
	{"struct vgpu_prop.textures", "struct cudaDeviceProp.maxTexture2D", [3]int{420, 420, 404}},
	{"struct vgpu_prop.surfaces", "struct cudaDeviceProp.maxSurface1D", [3]int{512, 512, 496}},
	{"struct vgpu_prop.surface_alignment", "struct cudaDeviceProp.surfaceAlignment", [3]int{568, 568, 552}},
	{"struct vgpu_prop.pci_bus", "struct cudaDeviceProp.pciBusID", [3]int{584, 584, 568}},
	{"struct vgpu_prop.bus_bits", "struct cudaDeviceProp.memoryBusWidth", [3]int{612, 612, 592}},
	{"struct vgpu_prop.l2_bytes", "struct cudaDeviceProp.l2CacheSize", [3]int{616, 616, 596}},
	{"struct vgpu_prop.threads_per_multiprocessor", "struct cudaDeviceProp.maxThreadsPerMultiProcessor", [3]int{624, 624, 604}},
	{"struct vgpu_prop.shared_per_multiprocessor", "struct cudaDeviceProp.sharedMemPerMultiprocessor", [3]int{640, 640, 624}},
	{"struct vgpu_prop.managed_memory", "struct cudaDeviceProp.managedMemory", [3]int{652, 652, 636}},
	{"struct vgpu_prop.cooperative", "struct cudaDeviceProp.cooperativeLaunch", [3]int{688, 688, 668}},
	{"struct vgpu_prop.shared_per_block_optin", "struct cudaDeviceProp.sharedMemPerBlockOptin", [3]int{696, 696, 672}},
	{"struct vgpu_prop.blocks_per_multiprocessor", "struct cudaDeviceProp.maxBlocksPerMultiProcessor", [3]int{712, 712, 688}},
	{"struct vgpu_prop.shared_reserved_per_block", "struct cudaDeviceProp.reservedSharedMemPerBlock", [3]int{720, 720, 696}},
	{"struct vgpu_prop.memory_pools", "struct cudaDeviceProp.memoryPoolsSupported", [3]int{-1, 744, 720}},
	{"struct vgpu_prop.cluster_launch", "struct cudaDeviceProp.clusterLaunch", [3]int{-1, 772, 748}},
	{"struct vgpu_prop.host_numa_id", "struct cudaDeviceProp.hostNumaId", [3]int{-1, -1, 768}},
	{"struct vgpu_pointer_attributes", "struct cudaPointerAttributes", [3]int{24, 24, 88}},
	{"struct vgpu_pointer_attributes.device_pointer", "struct cudaPointerAttributes.devicePointer", [3]int{8, 8, 8}},
	{"struct vgpu_function_attributes", "struct cudaFuncAttributes", [3]int{56, 144, 144}},
	{"struct vgpu_function_attributes.ptx_version", "struct cudaFuncAttributes.ptxVersion", [3]int{32, 32, 32}},
	{"struct vgpu_function_attributes.dynamic_shared_bytes", "struct cudaFuncAttributes.maxDynamicSharedSizeBytes", [3]int{44, 44, 44}},
	{"struct vgpu_pool_props", "struct cudaMemPoolProps", [3]int{88, 88, 88}},
	{"struct vgpu_pool_props.location", "struct cudaMemPoolProps.location", [3]int{8, 8, 8}},
	{"struct vgpu_access", "struct cudaMemAccessDesc", [3]int{12, 12, 12}},
	{"struct vgpu_launch.stream", "cudaLaunchConfig_t.stream", [3]int{-1, 32, 32}},
	{"struct vgpu_launch.attribute_count", "cudaLaunchConfig_t.numAttrs", [3]int{-1, 48, 48}},
	{"struct vgpu_ipc_handle", "struct cudaIpcMemHandle_st", [3]int{64, 64, 64}},
	{"struct vgpu_allocation_prop", "CUmemAllocationProp", [3]int{32, 32, 32}},
	{"struct vgpu_allocation_prop.location", "CUmemAllocationProp.location", [3]int{8, 8, 8}},
	{"struct vgpu_driver_launch.stream", "CUlaunchConfig.hStream", [3]int{-1, 32, 32}},
	{"struct vgpu_driver_launch.attribute_count", "CUlaunchConfig.numAttrs", [3]int{-1, 48, 48}},
}

// assertions is C that does not compile unless every layout is as the table
// says. side picks our name or the real one.
func assertions(major int, side func(layout) string) string {
	var b strings.Builder
	b.WriteString("#include <stddef.h>\n")
	for _, l := range layouts {
		if l.want[major-11] < 0 {
			continue
		}
		name, field, isField := strings.Cut(side(l), ".")
		expression := fmt.Sprintf("sizeof(%s)", name)
		if isField {
			expression = fmt.Sprintf("offsetof(%s, %s)", name, field)
		}
		fmt.Fprintf(&b, "_Static_assert(%s == %d, \"%s of CUDA %d\");\n", expression, l.want[major-11], side(l), major)
	}
	return b.String()
}

// check compiles a file without linking it.
func check(t *testing.T, compiler, source string, flags ...string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "layouts.c")
	if err := os.WriteFile(path, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	args := append([]string{"-std=gnu11", "-fsyntax-only"}, flags...)
	if out, err := exec.CommandContext(t.Context(), compiler, append(args, path)...).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// arm64Compilers are the names under which a compiler for arm64 Linux goes.
var arm64Compilers = []string{"aarch64-linux-gnu-gcc"}

func TestLayouts(t *testing.T) {
	csrc, err := filepath.Abs("csrc")
	if err != nil {
		t.Fatal(err)
	}
	for _, compiler := range append([]string{"cc"}, arm64Compilers...) {
		for major := 11; major <= 13; major++ {
			t.Run(fmt.Sprint(compiler, " CUDA ", major), func(t *testing.T) {
				if _, err := exec.LookPath(compiler); err != nil {
					t.Skip(err)
				}
				head := fmt.Sprintf("#define PLIMSOLL_CUDA_MAJOR %d\n#include \"layouts.h\"\n#define PROP_STRUCT vgpu_prop\n#define PROP_MAJOR PLIMSOLL_CUDA_MAJOR\n#include \"prop_layout.h\"\n", major)
				check(t, compiler, head+assertions(major, func(l layout) string { return l.ours }), "-I", csrc)
			})
		}
	}
}

// TestArm64Compiles compiles every file for arm64, which is built and not run.
func TestArm64Compiles(t *testing.T) {
	name := arm64Compilers[0]
	if _, err := exec.LookPath(name); err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	stubs := testManifest(t).stubs(testLibraries(t))
	for major := 11; major <= 13; major++ {
		c := compiler{command: []string{name}, defines: append(variant{major, 9, "arm64"}.defines(), "-Werror")}
		if err := c.build(t.Context(), dir, stubs); err != nil {
			t.Fatal(err)
		}
	}
}

// TestLayoutsAgainstHeaders checks the table itself. PLIMSOLL_CUDA_HEADERS_11,
// _12 and _13 name the include folders of CUDA, separated by colons.
func TestLayoutsAgainstHeaders(t *testing.T) {
	for major := 11; major <= 13; major++ {
		t.Run(fmt.Sprint("CUDA ", major), func(t *testing.T) {
			folders := os.Getenv(fmt.Sprintf("PLIMSOLL_CUDA_HEADERS_%d", major))
			if folders == "" {
				t.Skip("no headers were given")
			}
			var flags []string
			for folder := range strings.SplitSeq(folders, ":") {
				flags = append(flags, "-I", folder)
			}
			source := "#include <cuda.h>\n#include <driver_types.h>\n" + assertions(major, func(l layout) string { return l.theirs })
			check(t, "cc", source, flags...)
		})
	}
}
