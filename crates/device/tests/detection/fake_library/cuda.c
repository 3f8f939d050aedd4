#include <string.h>
#include <stddef.h>
struct Fake { const char *name; int major, minor, integrated; const char *pci; unsigned long total, free; };
static const struct Fake fakes[] = { DEVICES };
static const int count = sizeof(fakes) / sizeof(fakes[0]) - 1;
static _Thread_local int current = -1;
static int started = 0;
static int retained = 0;
#define FAKE(handle) (&fakes[(handle) - 100 + 1])
int cuInit(unsigned flags) { started = !STATUS; return STATUS; }
int cuDeviceGetCount(int *out) { *out = count; return started ? 0 : 3; }
int cuDeviceGet(int *out, int index) { if (index < 0 || index >= count) return 101; *out = index + 100; return 0; }
int cuDeviceGetName(char *out, int length, int handle) { strncpy(out, FAKE(handle)->name, length); return 0; }
int cuDeviceGetPCIBusId(char *out, int length, int handle) { strncpy(out, FAKE(handle)->pci, length); return 0; }
int cuDeviceGetUuid_v2(char *out, int handle) { for (int i = 0; i < 16; i++) out[i] = handle - 100 + i; return 0; }
int cuDeviceTotalMem_v2(size_t *out, int handle) { *out = FAKE(handle)->total; return 0; }
int cuDeviceGetAttribute(int *out, int attribute, int handle) {
    switch (attribute) {
        case 16: *out = 132; return 0;
        case 18: *out = FAKE(handle)->integrated; return 0;
        case 75: *out = FAKE(handle)->major; return 0;
        case 76: *out = FAKE(handle)->minor; return 0;
        default: return 1;
    }
}
int cuDevicePrimaryCtxRetain(void **out, int handle) { retained++; *out = (void *)(size_t)handle; return 0; }
int cuDevicePrimaryCtxRelease_v2(int handle) { retained--; return 0; }
int fakeRetained(void) { return retained; }
int cuCtxSetCurrent(void *context) { current = (int)(size_t)context; return 0; }
int cuMemGetInfo_v2(size_t *free, size_t *total) {
    if (current < 100 || retained != 1) return 201; /* an earlier query must have released its context */
    *free = FAKE(current)->free; *total = FAKE(current)->total; return 0;
}
int cuDriverGetVersion(int *out) { *out = VERSION; return 0; }
#define STUB(name) int name(void) { return 801; }
STUBS
