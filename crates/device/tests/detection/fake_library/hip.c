#include <string.h>
#include <stddef.h>
struct Fake { const char *name, *arch; int warp, integrated, bus; unsigned long total, free; const char *uuid; };
static const struct Fake fakes[] = { DEVICES };
static const int count = sizeof(fakes) / sizeof(fakes[0]) - 1;
static _Thread_local int current = 0;
int hipGetDeviceCount(int *out) { *out = STATUS ? 0 : count; return STATUS; }
int hipSetDevice(int device) { if (device < 0 || device >= count) return 101; current = device; return 0; }
#ifndef WITHOUT_PROPERTIES
int hipGetDevicePropertiesR0600(void *out, int device) {
    if (device < 0 || device >= count) return 101;
    char *bytes = out; const struct Fake *fake = &fakes[device + 1];
    memset(bytes, 0, 1472);
    strcpy(bytes, fake->name);
    memcpy(bytes + 256, fake->uuid, strlen(fake->uuid) < 16 ? strlen(fake->uuid) : 16);
    memcpy(bytes + 288, &fake->total, 8);
    memcpy(bytes + 308, &fake->warp, 4);
    memcpy(bytes + 396, &fake->integrated, 4);
    memcpy(bytes + 584, &fake->bus, 4);
    strcpy(bytes + 1160, fake->arch);
    return 0;
}
#endif
int hipMemGetInfo(size_t *free, size_t *total) { *free = fakes[current + 1].free; *total = fakes[current + 1].total; return 0; }
int hipRuntimeGetVersion(int *out) { *out = 70051831; return 0; }
int hipDriverGetVersion(int *out) { *out = 70051831; return 0; }
#define STUB(name) int name(void) { return 801; }
STUBS
