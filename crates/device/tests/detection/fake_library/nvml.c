#include <string.h>
int nvmlInit_v2(void) { return 0; }
int nvmlShutdown(void) { return 0; }
int nvmlDeviceGetHandleByPciBusId_v2(const char *address, void **out) { *out = (void *)1; return strcmp(address, ADDRESS) ? 6 : 0; }
int nvmlDeviceGetMemoryInfo(void *handle, unsigned long long *out) { out[0] = TOTAL; out[1] = FREE; out[2] = TOTAL - FREE; return 0; }
int nvmlSystemGetDriverVersion(char *out, unsigned length) { strncpy(out, "580.159.04", length); return 0; }
