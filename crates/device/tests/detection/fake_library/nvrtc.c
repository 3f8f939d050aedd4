static const int architectures[] = { ARCHITECTURES };
int nvrtcVersion(int *major, int *minor) { *major = VERSION / 1000; *minor = VERSION % 1000 / 10; return 0; }
int nvrtcGetNumSupportedArchs(int *out) { *out = sizeof(architectures) / sizeof(int); return 0; }
int nvrtcGetSupportedArchs(int *out) { for (unsigned i = 0; i < sizeof(architectures) / sizeof(int); i++) out[i] = architectures[i]; return 0; }
#define STUB(name) int name(void) { return 1; }
STUBS
