#include <string.h>
int nvmlInit_v2(void) { return 0; }
int nvmlShutdown(void) { return 0; }
int nvmlDeviceGetHandleByPciBusId_v2(const char *address, void **out) { *out = (void *)1; return strcmp(address, ADDRESS) ? 6 : 0; }
int nvmlDeviceGetMemoryInfo(void *handle, unsigned long long *out) { out[0] = TOTAL; out[1] = FREE; out[2] = TOTAL - FREE; return 0; }
int nvmlDeviceGetClockInfo(void *handle, unsigned type, unsigned *out) { *out = 1755; return type == 1 ? 0 : 2; }
int nvmlDeviceGetMaxClockInfo(void *handle, unsigned type, unsigned *out) { *out = 1980; return type == 1 ? 0 : 2; }
int nvmlSystemGetDriverVersion(char *out, unsigned length) { strncpy(out, "580.159.04", length); return 0; }
