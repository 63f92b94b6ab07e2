/* nvrtc.c: a compiler that accepts every program and gives an empty module.
 *
 * PyTorch compiles fused kernels and special functions at run time; the driver
 * here loads any image and finds any function in it, so no code is needed.
 */
#include "library.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NVRTC_OK = 0, NVRTC_NO_MEMORY = 1, NVRTC_INVALID_INPUT = 3, NVRTC_INVALID_PROGRAM = 4, NVRTC_NO_NAME = 10 };

struct program {
	int names;
	char **name; /* name expressions, each its own lowered name */
};

VGPU_API int nvrtcVersion(int *major, int *minor)
{
	if (!major || !minor)
		return NVRTC_INVALID_INPUT;
	*major = vgpu_cuda_version() / 1000;
	*minor = vgpu_cuda_version() % 1000 / 10;
	return NVRTC_OK;
}

/* The architectures that the compiler of each CUDA version knows (its manual):
 * from a version on, and before another. */
static const struct {
	int architecture, since, until;
} architectures[] = {
	{35, 0, 12000}, {37, 0, 12000}, {50, 0, 13000}, {52, 0, 13000}, {53, 0, 13000}, {60, 0, 13000},
	{61, 0, 13000}, {62, 0, 13000}, {70, 0, 13000}, {72, 0, 13000}, {75, 0, 99999}, {80, 0, 99999},
	{86, 0, 99999}, {87, 0, 99999}, {89, 11080, 99999}, {90, 11080, 99999}, {100, 12080, 99999},
	{103, 13000, 99999}, {110, 13000, 99999}, {120, 12080, 99999}, {121, 13000, 99999},
};

static int known_architectures(int *out)
{
	int count = 0;
	for (size_t i = 0; i < sizeof architectures / sizeof *architectures; i++) {
		if (vgpu_cuda_version() < architectures[i].since || vgpu_cuda_version() >= architectures[i].until)
			continue;
		if (out)
			out[count] = architectures[i].architecture;
		count++;
	}
	return count;
}

VGPU_API int nvrtcGetNumSupportedArchs(int *count)
{
	*count = known_architectures(NULL);
	return NVRTC_OK;
}

VGPU_API int nvrtcGetSupportedArchs(int *out)
{
	known_architectures(out);
	return NVRTC_OK;
}

VGPU_API const char *nvrtcGetErrorString(int error)
{
	static const char *const texts[] = {
		"NVRTC_SUCCESS", "NVRTC_ERROR_OUT_OF_MEMORY", "NVRTC_ERROR_PROGRAM_CREATION_FAILURE", "NVRTC_ERROR_INVALID_INPUT",
		"NVRTC_ERROR_INVALID_PROGRAM", "NVRTC_ERROR_INVALID_OPTION", "NVRTC_ERROR_COMPILATION",
		"NVRTC_ERROR_BUILTIN_OPERATION_FAILURE", "NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION",
		"NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION", "NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID", "NVRTC_ERROR_INTERNAL_ERROR",
	};
	return error >= 0 && (size_t)error < sizeof texts / sizeof *texts ? texts[error] : "NVRTC_ERROR unknown";
}

VGPU_API int nvrtcCreateProgram(struct program **out, const char *source, const char *name, int headers, const char *const *header,
	const char *const *header_name)
{
	if (!out)
		return NVRTC_INVALID_INPUT;
	*out = calloc(1, sizeof **out);
	return *out ? NVRTC_OK : NVRTC_NO_MEMORY;
}

VGPU_API int nvrtcDestroyProgram(struct program **p)
{
	if (!p || !*p)
		return NVRTC_INVALID_PROGRAM;
	for (int i = 0; i < (*p)->names; i++)
		free((*p)->name[i]);
	free((*p)->name);
	free(*p);
	*p = NULL;
	return NVRTC_OK;
}

VGPU_API int nvrtcAddNameExpression(struct program *p, const char *expression)
{
	char **more;
	if (!p || !expression)
		return NVRTC_INVALID_INPUT;
	more = realloc(p->name, (size_t)(p->names + 1) * sizeof *more);
	if (!more)
		return NVRTC_NO_MEMORY;
	p->name = more;
	more[p->names] = strdup(expression);
	if (!more[p->names])
		return NVRTC_NO_MEMORY;
	p->names++;
	return NVRTC_OK;
}

VGPU_API int nvrtcGetLoweredName(struct program *p, const char *expression, const char **lowered)
{
	for (int i = 0; p && i < p->names; i++)
		if (strcmp(p->name[i], expression) == 0) {
			*lowered = p->name[i];
			return NVRTC_OK;
		}
	return NVRTC_NO_NAME;
}

/* The module: a PTX text without functions, or the head of an ELF file. */
static size_t ptx(char *out, size_t room)
{
	return (size_t)snprintf(out, room, ".version 7.0\n.target sm_%d\n.address_size 64\n", vgpu_config()->card.capability) + 1;
}

static const char cubin[64] = "\177ELF\2\1\1\63\7";

static int give(void *out, const void *from, size_t n)
{
	if (!out)
		return NVRTC_INVALID_INPUT;
	memcpy(out, from, n);
	return NVRTC_OK;
}

VGPU_API int nvrtcGetPTXSize(struct program *p, size_t *bytes)
{
	char text[128];
	*bytes = ptx(text, sizeof text);
	return NVRTC_OK;
}

VGPU_API int nvrtcGetPTX(struct program *p, char *out)
{
	char text[128];
	return give(out, text, ptx(text, sizeof text));
}

VGPU_API int nvrtcGetCUBINSize(struct program *p, size_t *bytes)
{
	*bytes = sizeof cubin;
	return NVRTC_OK;
}

VGPU_API int nvrtcGetCUBIN(struct program *p, char *out) { return give(out, cubin, sizeof cubin); }

VGPU_API int nvrtcGetProgramLogSize(struct program *p, size_t *bytes)
{
	*bytes = 1;
	return NVRTC_OK;
}

VGPU_API int nvrtcGetProgramLog(struct program *p, char *out) { return give(out, "", 1); }
