/* Gives the driver calls that JavaScript has written down, in a thread of its own.

   JavaScript writes calls into a ring in memory and says up to where; this thread makes them in that order and says up to
   where they have returned. While it has calls to make, JavaScript makes none that could overtake them. After a call that
   fails the thread stops in front of the next one until JavaScript has noted it, and set `failed` to 0.

   The layout and the kinds of calls are those of issuing-thread.ts. Positions count words of 32 bits and wrap. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Old names of functions that later versions of glibc have moved, so that one library runs on all of them. */
#if defined(__x86_64__)
#define OLDEST "GLIBC_2.2.5"
#elif defined(__aarch64__)
#define OLDEST "GLIBC_2.17"
#endif
__asm__(".symver pthread_create,pthread_create@" OLDEST);
__asm__(".symver pthread_join,pthread_join@" OLDEST);
__asm__(".symver pthread_sigmask,pthread_sigmask@" OLDEST);
__asm__(".symver dlopen,dlopen@" OLDEST);
__asm__(".symver dlsym,dlsym@" OLDEST);

#define EXPORT __attribute__((visibility("default")))

enum { ring_words = 1 << 16 };
enum kind { kind_skip, kind_launch, kind_copy, kind_set, kind_record, kind_wait, kind_graph };
enum state { state_none, state_awake, state_asleep };

/* CUlaunchConfig */
struct config {
  uint32_t grid[3], block[3], shared;
  uint64_t stream;
  void *attributes;
  uint32_t count;
};
/* CUlaunchAttribute */
struct attribute { uint32_t id, pad; int32_t value[16]; };

struct driver {
  int (*set_current)(uint64_t);
  int (*launch)(const struct config *, uint64_t, void **, void **);
  int (*copy)(uint64_t, uint64_t, size_t, uint64_t);
  int (*set)(uint64_t, unsigned char, size_t, uint64_t);
  int (*record)(uint64_t, uint64_t);
  int (*wait)(uint64_t, uint64_t, unsigned);
  int (*graph)(uint64_t, uint64_t);
};

struct queue {
  _Alignas(64) _Atomic uint32_t written; /* up to where there are calls */
  _Alignas(64) _Atomic uint32_t issued;  /* up to where they have returned */
  _Atomic int32_t failed;                /* what the call at `issued` gave, if that was an error */
  _Alignas(64) _Atomic int32_t state; /* an enum state */
  _Atomic int32_t wakes; /* how often the thread was asked to wake */
  _Atomic int32_t heard; /* and of how many of these it knows */
  _Atomic int32_t stops;
  _Alignas(64) uint32_t ring[ring_words];
  struct driver driver;
  uint64_t context;
  int64_t patience; /* nanoseconds that the thread looks for calls before it sleeps */
  pthread_t thread;
};

_Static_assert(offsetof(struct queue, issued) == 64 && offsetof(struct queue, failed) == 68, "as in issuing-thread.ts");
_Static_assert(offsetof(struct queue, state) == 128 && offsetof(struct queue, ring) == 192, "as in issuing-thread.ts");
_Static_assert(sizeof(struct config) == 56, "as in launch-call.ts");

static uint64_t word64(const uint32_t *words) { return words[0] | (uint64_t)words[1] << 32; }

/* Words: kind and length, bytes of parameters, function (2), description (14), parameters. */
static int launch(const struct driver *driver, uint32_t *call) {
  static struct attribute cooperative = {.id = 2, .value = {1}};
  struct config config;
  memcpy(&config, call + 4, sizeof config);
  config.attributes = config.count == 0 ? NULL : &cooperative;
  size_t bytes = call[1];
  /* CU_LAUNCH_PARAM_BUFFER_POINTER, CU_LAUNCH_PARAM_BUFFER_SIZE, CU_LAUNCH_PARAM_END */
  void *options[] = {(void *)1, call + 18, (void *)2, &bytes, NULL};
  return driver->launch(&config, word64(call + 2), NULL, options);
}

static int make_call(const struct driver *driver, uint32_t *call) {
  const uint64_t a = word64(call + 2), b = word64(call + 4);
  switch ((enum kind)(call[0] & 255)) {
    case kind_skip: return 0;
    case kind_launch: return launch(driver, call);
    case kind_copy: return driver->copy(a, b, word64(call + 6), word64(call + 8));
    case kind_set: return driver->set(a, call[1], b, word64(call + 6));
    case kind_record: return driver->record(a, b);
    case kind_wait: return driver->wait(a, b, 0);
    case kind_graph: return driver->graph(a, b);
  }
  return 1; /* CUDA_ERROR_INVALID_VALUE */
}

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}
static void nap(int microseconds) { nanosleep(&(struct timespec){0, microseconds * 1000L}, NULL); }
static void pause_briefly(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}
static long futex(_Atomic int32_t *word, int operation, int32_t value) {
  return syscall(SYS_futex, word, operation | FUTEX_PRIVATE_FLAG, value, NULL, NULL, 0);
}

/* Waits for calls behind `issued`: up to where there are some by now. The same as `issued` if the thread is to end. */
static uint32_t await_calls(struct queue *q, uint32_t issued) {
  int64_t begin = now();
  for (unsigned turn = 1; !q->stops; ++turn) {
    const uint32_t written = atomic_load_explicit(&q->written, memory_order_acquire);
    if (written != issued) return written;
    pause_briefly();
    if (turn % 64 != 0) continue;
    /* Where processors are few, others have something to do. */
    sched_yield();
    if (now() - begin < q->patience) continue;
    const int32_t wakes = q->wakes;
    q->heard = wakes;
    q->state = state_asleep;
    /* Whoever writes a call looks at the state behind that, and this thread at the calls behind its state. */
    if (q->written == issued && !q->stops) futex(&q->wakes, FUTEX_WAIT, wakes);
    q->heard = q->wakes;
    q->state = state_awake;
    begin = now();
  }
  return issued;
}

static void *run(void *argument) {
  struct queue *q = argument;
  q->driver.set_current(q->context);
  q->state = state_awake;
  /* JavaScript writes to `written` all the time: it is read when what is known of it is issued. */
  uint32_t issued = q->issued, written = issued;
  while (!q->stops) {
    if (written == issued && (written = await_calls(q, issued)) == issued) break;
    uint32_t *call = q->ring + issued % ring_words;
    const uint32_t length = call[0] >> 8;
    /* The words of the next call are in the other processor's cache: they come while the driver makes this one. */
    for (uint32_t ahead = length; ahead < length + 48 && written - issued > ahead; ahead += 16)
      __builtin_prefetch(q->ring + (issued + ahead) % ring_words);
    const int result = make_call(&q->driver, call);
    if (result != 0) {
      q->failed = result;
      while (q->failed != 0 && !q->stops) nap(20);
    }
    issued += length;
    atomic_store_explicit(&q->issued, issued, memory_order_release);
  }
  return NULL;
}

/* A queue for the driver at this path; null where it, or memory, is not there. */
EXPORT void *issuing_make(const char *path) {
  void *library = dlopen(path, RTLD_NOW);
  if (library == NULL) return NULL;
  const struct driver driver = {
      .set_current = dlsym(library, "cuCtxSetCurrent"),
      .launch = dlsym(library, "cuLaunchKernelEx"),
      .copy = dlsym(library, "cuMemcpyAsync"),
      .set = dlsym(library, "cuMemsetD8Async"),
      .record = dlsym(library, "cuEventRecord"),
      .wait = dlsym(library, "cuStreamWaitEvent"),
      .graph = dlsym(library, "cuGraphLaunch"),
  };
  if (!driver.set_current || !driver.launch || !driver.copy || !driver.set) return NULL;
  if (!driver.record || !driver.wait || !driver.graph) return NULL;
  struct queue *q = NULL;
  if (posix_memalign((void **)&q, 64, sizeof *q) != 0) return NULL;
  memset(q, 0, sizeof *q);
  q->driver = driver;
  return q;
}

/* Starts the thread, for calls in this context; it sleeps after so many microseconds without any. An error of the system, or 0. */
EXPORT int issuing_start(struct queue *q, uint64_t context, int patience) {
  q->context = context;
  q->patience = patience * INT64_C(1000);
  q->stops = 0;
  /* Signals are for the threads of whoever runs this. */
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  const int error = pthread_create(&q->thread, NULL, run, q);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return error;
}

EXPORT void issuing_wake(struct queue *q) {
  q->wakes++;
  futex(&q->wakes, FUTEX_WAKE, 1);
}

/* Waits until all calls have returned, or one has failed: as busily as in a call of the driver, unless that takes long. */
EXPORT void issuing_settle(struct queue *q) {
  const int64_t end = now() + 2000000;
  for (;;) {
    const uint32_t left = q->written - q->issued;
    if (left == 0 || q->failed != 0) return;
    if (now() > end) {
      nap(20);
      continue;
    }
    /* Each look takes the word from the thread that writes it: the more is left, the fewer looks. */
    for (uint32_t turn = 0; turn < 8 + left / 16; ++turn) pause_briefly();
    sched_yield();
  }
}

/* Ends the thread, which makes no further call. The queue can be started again, empty. */
EXPORT void issuing_stop(struct queue *q) {
  q->stops = 1;
  issuing_wake(q);
  pthread_join(q->thread, NULL);
  q->written = q->issued = 0;
  q->failed = q->state = q->wakes = q->heard = 0;
}
