/* curand.c: random generators that draw on the device, where nothing is computed.
 * A generator on the host would have to give real numbers and is refused
 * (manifest). */
#include "library.h"

enum { CURAND_OK = 0, CURAND_OUT_OF_RANGE = 104 };

VGPU_API int curandCreateGenerator(void **generator, int kind)
{
	if (!generator)
		return CURAND_OUT_OF_RANGE;
	*generator = vgpu_handle();
	return CURAND_OK;
}

VGPU_API int curandGetVersion(int *version)
{
	*version = vgpu_version(VGPU_VERSION_CURAND);
	return CURAND_OK;
}
