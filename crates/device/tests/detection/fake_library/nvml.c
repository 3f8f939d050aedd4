#include <string.h>
int nvmlInit_v2(void) { return 0; }
int nvmlShutdown(void) { return 0; }
int nvmlDeviceGetHandleByPciBusId_v2(const char *address, void **out) { *out = (void *)1; return strcmp(address, ADDRESS) ? 6 : 0; }
int nvmlDeviceGetMemoryInfo(void *handle, unsigned long long *out) { out[0] = TOTAL; out[1] = FREE; out[2] = TOTAL - FREE; return 0; }
int nvmlDeviceGetClockInfo(void *handle, unsigned type, unsigned *out) { *out = 1755; return type == 1 ? 0 : 2; }
int nvmlDeviceGetMaxClockInfo(void *handle, unsigned type, unsigned *out) { *out = 1980; return type == 1 ? 0 : 2; }
int nvmlSystemGetDriverVersion(char *out, unsigned length) { strncpy(out, "580.159.04", length); return 0; }
struct Process { unsigned pid; unsigned long long used; unsigned instances[2]; };
int nvmlDeviceGetComputeRunningProcesses_v3(void *handle, unsigned *count, struct Process *out) {
    static const struct Process running[] = { PROCESSES {0, 0, {0, 0}} };
    unsigned running_count = sizeof(running) / sizeof(running[0]) - 1;
    if (*count < running_count) { *count = running_count; return 7; }
    memcpy(out, running, sizeof(running) - sizeof(running[0]));
    *count = running_count;
    return 0;
}
int nvmlDeviceGetTotalEnergyConsumption(void *handle, unsigned long long *out) {
    static unsigned long long millijoules = 5000;
    *out = millijoules += 1500;
    return 0;
}
