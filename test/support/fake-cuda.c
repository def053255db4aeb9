/* A libcuda and an NVRTC for tests: memory is the host's, commands are carried out at once unless a test
   wants streams that take time, kernels do nothing, and any call can be made to fail. For what hardware cannot be
   made to do. */

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef int R;
typedef uint64_t H;

/* What tests set. */
static char failing[64];
static R failure = 0;
static int after = 0;
static R lost = 0;
static int version = 13000, devices = 1, launches = 0, compiles = 0, locks = 0, unlocks = 0, nvrtc_minor = 0;
static int retained = 0, slow = 0, capability = 90;
static size_t total = 1u << 28, used = 0, largest = (size_t)-1;

/* What the next launch tells of a fault, and prints, if it has a channel. */
static struct { int fails, site, rank, block; int64_t values[4]; } fault;
static struct { int lines, site, words; uint64_t value; } printed;
/* A line whose first word is deferred: the thread that prints it has only begun. */
static struct { int wanted; uint64_t *at, word; } begun;

void fake_lag(int microseconds, int seed);
void fake_busy(int nanoseconds);
static void reset_threads(void);
void fake_reset(void) {
  reset_threads();
  fake_lag(0, 1);
  fake_busy(0);
  fault.fails = printed.lines = begun.wanted = 0;
  failing[0] = 0;
  failure = lost = 0;
  after = 0;
  version = 13000;
  devices = 1;
  launches = compiles = locks = unlocks = nvrtc_minor = slow = 0;
  capability = 90;
  total = 1u << 28;
  largest = (size_t)-1;
}
/* The function fails, after it has succeeded so often. */
void fake_fail(const char *function, R result, int successes) {
  strncpy(failing, function, 63);
  failure = result;
  after = successes;
}
/* Every call fails from now on, until the context is reset. */
void fake_lose(R result) { lost = result; }
void fake_fault(int site, int rank, int block, double a, double b, double c, double d) {
  fault.fails = 1;
  fault.site = site;
  fault.rank = rank;
  fault.block = block;
  fault.values[0] = a, fault.values[1] = b, fault.values[2] = c, fault.values[3] = d;
}
/* So many lines, each of one value of 32 bits, which counts from 0. */
void fake_print(int lines, int site) {
  printed.lines = lines;
  printed.site = site;
}
/* The next line that is printed is only begun, until it is finished. */
void fake_begin_line(void) { begun.wanted = 1; }
void fake_finish_line(void) { *begun.at = begun.word; }
void fake_version(int v) { version = v; }
void fake_devices(int n) { devices = n; }
void fake_memory(double bytes) { total = (size_t)bytes; }
/* No allocation is larger, whatever is said to be free. */
void fake_largest(double bytes) { largest = (size_t)bytes; }
void fake_nvrtc(int minor) { nvrtc_minor = minor; }
int fake_launches(void) { return launches; }
int fake_compiles(void) { return compiles; }
int fake_locks(void) { return locks; }
int fake_unlocks(void) { return unlocks; }
/* Compute capability times ten. */
void fake_capability(int number) { capability = number; }
/* Starting the driver and making a context take so many milliseconds each. */
void fake_slow(int milliseconds) { slow = milliseconds; }
int fake_retained(void) { return retained; }

/* Calls of functions that may fail, all that issue work among them. */
static int calls = 0;
int fake_calls(void) { return calls; }

/* What every function has of static shared memory, and a block may have in all, without asking and with. */
enum { STATIC = 512, PLAIN = 48 * 1024, ROOM = 232448 };

/* Every call takes so many nanoseconds of its thread, as those of a real driver do. */
static int busy = 0;
void fake_busy(int nanoseconds) { busy = nanoseconds; }
static int64_t nanoseconds_now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

/* Calls of other threads than the one that reset all this. */
static pthread_t home;
static int asides = 0;
int fake_asides(void) { return asides; }

static void reset_threads(void) { home = pthread_self(), asides = 0; }

static R result_of(const char *function) {
  ++calls;
  if (!pthread_equal(pthread_self(), home)) ++asides;
  if (busy > 0) for (int64_t end = nanoseconds_now() + busy; nanoseconds_now() < end;) {}
  if (lost) return lost;
  if (failing[0] == 0 || strcmp(failing, function) != 0) return 0;
  /* Several threads may ask at once. */
  return __atomic_fetch_sub(&after, 1, __ATOMIC_SEQ_CST) > 0 ? 0 : failure;
}
#define ANSWER                       \
  do {                               \
    R answer = result_of(__func__);  \
    if (answer != 0) return answer;  \
  } while (0)

static H next_handle(void) {
  static H handle = 0x1000;
  return ++handle;
}

#include "fake-streams.c"
#include "fake-cupti.c"

/* Devices */
static void take_time(void) {
  struct timespec time = {0, slow * 1000000L};
  if (slow > 0) nanosleep(&time, NULL);
}
R cuInit(unsigned flags) { ANSWER; take_time(); return 0; }
R cuDriverGetVersion(int *v) { *v = version; return 0; }
static const struct { R result; const char *name, *text; } errors[] = {
  {2, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
  {46, "CUDA_ERROR_DEVICE_UNAVAILABLE", "CUDA-capable device(s) is/are busy or unavailable"},
  {100, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
  {600, "CUDA_ERROR_NOT_READY", "device not ready"},
  {700, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
  {701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "too many resources requested for launch"},
  {702, "CUDA_ERROR_LAUNCH_TIMEOUT", "the launch timed out and was terminated"},
  {719, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
  {802, "CUDA_ERROR_SYSTEM_NOT_READY", "system not yet initialized"},
  {999, "CUDA_ERROR_UNKNOWN", "unknown error"},
};
R cuGetErrorName(R result, const char **name) {
  for (size_t i = 0; i < sizeof errors / sizeof *errors; ++i)
    if (errors[i].result == result) return *name = errors[i].name, 0;
  return 1;
}
R cuGetErrorString(R result, const char **text) {
  for (size_t i = 0; i < sizeof errors / sizeof *errors; ++i)
    if (errors[i].result == result) return *text = errors[i].text, 0;
  return 1;
}
R cuDeviceGetCount(int *n) { *n = devices; return 0; }
R cuDeviceGet(int *device, int ordinal) { *device = ordinal; return 0; }
R cuDeviceGetName(char *name, int length, int device) { snprintf(name, length, "Fake GPU %d", device); return 0; }
R cuDeviceGetAttribute(int *value, int attribute, int device) {
  switch (attribute) {
    case 1: case 2: case 3: *value = 1024; break;
    case 4: *value = 64; break;
    case 5: *value = 0x7fffffff; break;
    case 6: case 7: *value = 65535; break;
    case 10: *value = 32; break;
    case 16: *value = 132; break;
    case 39: *value = 2048; break;
    case 40: *value = 3; break;
    case 75: *value = capability / 10; break;
    case 76: *value = capability % 10; break;
    case 81: *value = 233472; break;
    case 82: *value = 65536; break;
    case 97: *value = ROOM; break;
    case 106: *value = 32; break;
    case 111: *value = 1024; break;
    default: *value = 1;
  }
  return 0;
}
R cuDevicePrimaryCtxRetain(H *context, int device) { ANSWER; take_time(); ++retained; *context = 0x100 + device; return 0; }
R cuDevicePrimaryCtxRelease_v2(int device) { --retained; return 0; }
R cuDevicePrimaryCtxReset_v2(int device) { lost = 0; failing[0] = 0; used = 0; return 0; }
R cuCtxSetCurrent(H context) { return 0; }
R cuCtxEnablePeerAccess(H peer, unsigned flags) { return 0; }

/* Memory */
R cuMemGetInfo_v2(size_t *free_bytes, size_t *all) { ANSWER; *free_bytes = total > used ? total - used : 0; *all = total; return 0; }
R cuDeviceGetDefaultMemPool(H *pool, int device) { ANSWER; *pool = 0x200 + device; return 0; }
R cuMemPoolSetAttribute(H pool, int attribute, void *value) { return 0; }
R cuMemPoolGetAttribute(H pool, int attribute, uint64_t *value) { *value = 0; return 0; }
R cuMemPoolSetAccess(H pool, void *access, size_t count) { return 0; }
R cuMemPoolTrimTo(H pool, size_t bytes) { return 0; }
R cuMemAllocAsync(H *address, size_t bytes, H stream) {
  ANSWER;
  if (used + bytes > total || bytes > largest) return 2;
  size_t *block = aligned_alloc(256, (bytes + 511) / 256 * 256);
  block[0] = bytes;
  used += bytes;
  *address = (H)block + 256;
  return 0;
}
static void run_free(struct operation *o) { free((void *)o->a); }
R cuMemFreeAsync(H address, H stream) {
  ANSWER;
  size_t *block = (size_t *)(address - 256);
  /* All devices share this count, and the reset of one clears it. */
  used -= used < block[0] ? used : block[0];
  submit(stream, (struct operation){.run = run_free, .a = (H)block});
  return 0;
}
R cuMemHostRegister_v2(H address, size_t bytes, unsigned flags) {
  SYNCHRONISE;
  ++locks;
  return 0;
}
R cuMemHostUnregister(H address) { SYNCHRONISE; ++unlocks; return 0; }
static void run_copy(struct operation *o) { memmove((void *)o->a, (void *)o->b, o->c); }
R cuMemcpyAsync(H to, H from, size_t bytes, H stream) {
  ANSWER;
  struct operation o = {.run = run_copy, .a = to, .b = from, .c = bytes};
  log_given(stream, &o, 5);
  submit(stream, o);
  note(MEMCPY, stream, bytes);
  return 0;
}
static void run_rows(struct operation *o) {
  uint64_t *s = o->more, *t = s + 11, *box = s + 22;
  char *from = (char *)((unsigned)s[4] == 2 ? s[6] : s[5]), *to = (char *)((unsigned)t[4] == 2 ? t[6] : t[5]);
  for (size_t z = 0; z < box[2]; ++z)
    for (size_t y = 0; y < box[1]; ++y)
      memmove(to + (z * t[10] + y) * t[9], from + (z * s[10] + y) * s[9], box[0]);
}
R cuMemcpy3DAsync_v2(uint64_t *description, H stream) {
  ANSWER;
  struct operation o = {.run = run_rows};
  memcpy(o.more, description, 25 * sizeof *description);
  submit(stream, o);
  note(MEMCPY, stream, o.more[22] * o.more[23] * o.more[24]);
  return 0;
}
static void run_set(struct operation *o) { memset((void *)o->a, o->b, o->c); }
R cuMemsetD8Async(H to, uint8_t byte, size_t bytes, H stream) {
  ANSWER;
  struct operation o = {.run = run_set, .a = to, .b = byte, .c = bytes};
  log_given(stream, &o, 3);
  submit(stream, o);
  note(MEMSET, stream, bytes);
  return 0;
}

/* Modules */
/* Of a module and its function: a hash of the image, and the dynamic shared memory that was asked for. */
struct code { uint64_t hash; int dynamic; };
static int modules = 0;
/* Modules that were loaded and not unloaded. */
int fake_modules(void) { return modules; }
R cuModuleLoadData(H *module, char *image) {
  SYNCHRONISE;
  struct code *code = malloc(sizeof *code);
  code->hash = 14695981039346656037u;
  code->dynamic = 0;
  for (; *image; ++image) code->hash = (code->hash ^ (unsigned char)*image) * 1099511628211u;
  *module = (H)code;
  ++modules;
  return 0;
}
R cuModuleUnload(H module) { --modules; free((void *)module); return 0; }
R cuModuleGetFunction(H *function, H module, const char *name) { ANSWER; *function = module; return 0; }
R cuFuncSetAttribute(H function, int attribute, int value) {
  ANSWER;
  if (attribute != 8 || value + STATIC > ROOM) return 1;
  ((struct code *)function)->dynamic = value;
  return 0;
}
R cuFuncGetAttribute(int *value, int attribute, H function) {
  ANSWER;
  *value = attribute == 1 ? STATIC : attribute == 3 ? 24 : 128;
  return 0;
}
R cuCtxGetDevice(int *device) { ANSWER; *device = 0; return 0; }
/* By its registers alone: 128 of 65536 for each thread, and dynamic shared memory by 228 KiB. */
R cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, H function, int threads, size_t shared) {
  ANSWER;
  int most = 65536 / (128 * threads), fit = shared == 0 ? most : (int)(228 * 1024 / (shared + STATIC + 1024));
  *blocks = fit < most ? fit : most;
  return 0;
}
/* What generated kernels do, by the layout of prelude-checks.ts: the channel and the launch are the last parameters. */
struct record { uint32_t launch, site, rank, block[3]; int64_t values[4]; };
struct ring { uint64_t taken; uint32_t lost; };
struct channel {
  uint32_t stop, lock;
  uint64_t key;
  uint32_t grid;
  uint64_t cancelled;
  struct record *record;
  struct ring *ring;
  uint64_t *head, *lines, words, patience;
};
static struct channel *told_channel;
static uint32_t told_launch;
/* Whether a launch is to end: the last one that reported something, or one that was so many before it. */
int fake_cancelled(int before) {
  uint32_t first = (uint32_t)told_channel->cancelled, last = told_channel->cancelled >> 32;
  return told_launch - before - first <= last - first;
}
static void run_kernel(struct operation *o) {
  struct channel *channel = (struct channel *)o->a;
  uint32_t launch = o->b;
  if (channel == NULL) return;
  told_channel = channel;
  told_launch = launch;
  if (channel->stop) return;
  for (int i = 0; i < printed.lines; ++i) {
    if (*channel->head + 4 - channel->ring->taken > channel->words) {
      ++channel->ring->lost;
      continue;
    }
    uint64_t at = *channel->head, mask = channel->words - 1;
    *channel->head += 4;
    channel->lines[(at + 3) & mask] = i;
    uint64_t word = (uint64_t)launch << 32 | printed.site << 1 | 1;
    if (begun.wanted) {
      begun.wanted = 0;
      begun.at = &channel->lines[at & mask];
      begun.word = word;
    } else channel->lines[at & mask] = word;
  }
  printed.lines = 0;
  if (!fault.fails) return;
  fault.fails = 0;
  struct record *record = channel->record;
  record->site = fault.site;
  record->rank = fault.rank;
  record->block[0] = fault.block;
  record->block[1] = record->block[2] = 0;
  memcpy(record->values, fault.values, sizeof fault.values);
  record->launch = launch;
  channel->stop = launch;
}
/* The last launch as the driver got it: the code's hash, extents, dynamic shared memory, bytes of parameters, and these. */
static uint8_t launched[4096 + 80];
void fake_launched(uint8_t *bytes, int size) { memcpy(bytes, launched, size); }
/* CUlaunchConfig. */
struct config { unsigned grid[3], block[3], shared; H stream, attributes; unsigned count; };
R cuLaunchKernelEx(struct config *config, H function, H parameters, H extra) {
  ANSWER;
  ++launches;
  unsigned *g = config->grid, *b = config->block;
  H stream = config->stream;
  int dynamic = config->shared;
  if (dynamic + STATIC > PLAIN && dynamic > ((struct code *)function)->dynamic) return 1;
  struct operation o = {.run = run_kernel};
  char *packed = (char *)((uint64_t *)extra)[1];
  size_t size = *(uint64_t *)((uint64_t *)extra)[3] & 0xffffffff;
  uint64_t head[] = {((struct code *)function)->hash, g[0], g[1], g[2], b[0], b[1], b[2], config->shared, size};
  memset(launched, 0, sizeof launched);
  memcpy(launched, head, sizeof head);
  memcpy(launched + sizeof head, packed, size);
  struct operation given = {.a = size < 4 ? 0 : *(uint32_t *)(packed + size - 4)};
  log_given(stream, &given, 4);
  if (fault.fails || printed.lines) {
    memcpy(&o.a, packed + size - 12, 8);
    memcpy(&o.b, packed + size - 4, 4);
  }
  submit(stream, o);
  note(KERNEL, stream, 0);
  return 0;
}

/* NVRTC: the machine code of a text is the text. */
struct program { char *text, *name; };
R nvrtcVersion(int *major, int *minor) { *major = 13; *minor = nvrtc_minor; return 0; }
const char *nvrtcGetErrorString(R result) { return "NVRTC_ERROR"; }
R nvrtcCreateProgram(H *program, const char *text, const char *name, int n, void *headers, void *names) {
  struct program *p = malloc(sizeof *p);
  p->text = strdup(text);
  p->name = strdup(name);
  *program = (H)p;
  return 0;
}
R nvrtcDestroyProgram(H *program) { return 0; }
#ifdef WANTS_BUILTINS
/* As NVRTC does: by name, where the system looks for libraries. */
#include <dlfcn.h>
static int lacks_builtins(void) { return dlopen("libnvrtc-builtins.so.99.0", RTLD_NOW) == NULL; }
#else
static int lacks_builtins(void) { return 0; }
#endif
R nvrtcCompileProgram(struct program *p, int n, const char **options) {
  if (lacks_builtins()) return 7;
  if (strcmp(p->name, "warm-up.cu") != 0) ++compiles;
  return strstr(p->text, "#error") != NULL;
}
R nvrtcGetProgramLogSize(struct program *p, size_t *size) { *size = 64; return 0; }
R nvrtcGetProgramLog(struct program *p, char *log) {
  strcpy(log, lacks_builtins() ? "nvrtc: error: failed to open libnvrtc-builtins.so.99.0." : "own.cu(1): error: #error");
  return 0;
}
R nvrtcGetCUBINSize(struct program *p, size_t *size) { *size = strlen(p->text) + 1; return 0; }
R nvrtcGetCUBIN(struct program *p, char *data) { strcpy(data, p->text); return 0; }
R nvrtcGetPTXSize(struct program *p, size_t *size) { *size = strlen(p->text) + 1; return 0; }
R nvrtcGetPTX(struct program *p, char *data) { strcpy(data, p->text); return 0; }
R nvrtcAddNameExpression(H program, const char *expression) { return 0; }
R nvrtcGetLoweredName(H program, const char *expression, const char **name) { *name = expression; return 0; }
