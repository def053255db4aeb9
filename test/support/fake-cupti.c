/* A CUPTI for tests, part of fake-cuda.c: every command has a record at once. Buffers are asked for on
   the thread that issues, and full ones are given back on another, which is what makes CUPTI hard to use
   from JavaScript. Structures are those of the headers of 13.0, as far as anybody reads them. */

enum { MEMCPY = 1, MEMSET = 2, KERNEL = 10 };
static const size_t record_bytes[] = {[MEMCPY] = 96, [MEMSET] = 88, [KERNEL] = 216};
static const size_t correlation_at[] = {[MEMCPY] = 44, [MEMSET] = 44, [KERNEL] = 92};
static const size_t context_at[] = {[MEMCPY] = 36, [MEMSET] = 36, [KERNEL] = 44};
static const size_t channel_at[] = {[MEMCPY] = 76, [MEMSET] = 76, [KERNEL] = 168};

static int cupti_version = 130001, refused = 0, dropped = 0, held = 0, enabled[64];
static uint32_t correlation = 0;
static size_t most_records = 0;
static void (*request)(uint8_t **, size_t *, size_t *);
static void (*complete)(void *, uint32_t, uint8_t *, size_t, size_t);
static uint8_t *buffer;
static size_t capacity, filled, records;
static pthread_t givers[64];
static int giver_count = 0;

void fake_cupti_reset(void) {
  cupti_version = 130001;
  refused = dropped = held = 0;
  most_records = 0;
}
void fake_cupti_version(int v) { cupti_version = v; }
/* The function of CUPTI that switches records on fails. */
void fake_cupti_refuse(void) { refused = 1; }
/* The next records are lost. */
void fake_cupti_drop(int n) { dropped = n; }
/* Buffers that are not full are given back only by force, as if something in them were not complete. */
void fake_cupti_hold(void) { held = 1; }
/* A buffer is full after so many records. */
void fake_cupti_most(int n) { most_records = n; }

static uint64_t realtime(void) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return now.tv_sec * 1000000000ull + now.tv_nsec;
}

struct given { uint8_t *buffer; size_t size, valid; };
static void *give(void *argument) {
  struct given *g = argument;
  complete(NULL, 0, g->buffer, g->size, g->valid);
  free(g);
  return NULL;
}
static void give_later(void) {
  struct given *g = malloc(sizeof *g);
  *g = (struct given){buffer, capacity, filled};
  buffer = NULL;
  pthread_create(&givers[giver_count++ % 64], NULL, give, g);
}
static void await_givers(void) {
  for (int i = 0; i < giver_count && i < 64; ++i) pthread_join(givers[i], NULL);
  giver_count = 0;
}

static void note(int kind, H stream, size_t bytes) {
  if (is_captured(stream)) return;
  uint64_t now = realtime();
  ++correlation;
  if (!enabled[kind]) return;
  if (dropped > 0) { --dropped; return; }
  if (buffer != NULL && (filled + 256 > capacity || (most_records > 0 && records == most_records))) give_later();
  if (buffer == NULL) {
    size_t most = 0;
    request(&buffer, &capacity, &most);
    filled = records = 0;
    if (buffer == NULL) return;
  }
  uint8_t *at = buffer + filled;
  memset(at, 0, record_bytes[kind]);
  *(uint32_t *)at = kind;
  if (kind != KERNEL) *(uint64_t *)(at + 8) = bytes;
  *(uint64_t *)(at + 16) = now;
  *(uint64_t *)(at + 24) = now + 1000;
  *(uint32_t *)(at + context_at[kind]) = 7;
  *(uint32_t *)(at + context_at[kind] + 4) = (uint32_t)stream;
  *(uint32_t *)(at + correlation_at[kind]) = correlation;
  *(uint32_t *)(at + channel_at[kind]) = kind == MEMCPY ? 12 : 1;
  *(uint32_t *)(at + channel_at[kind] + 4) = kind == MEMCPY ? 2 : 1;
  filled += record_bytes[kind];
  ++records;
}

R cuptiGetVersion(uint32_t *v) { *v = cupti_version; return 0; }
R cuptiGetTimestamp(uint64_t *time) { *time = realtime(); return 0; }
R cuptiGetContextId(H context, uint32_t *id) { *id = 7; return 0; }
R cuptiGetStreamIdEx(H context, H stream, uint8_t per_thread, uint32_t *id) { *id = (uint32_t)stream; return 0; }
/* As CUPTI does, it has a thread of its own from here on, which nobody ends. */
static void *work(void *argument) {
  const struct timespec moment = {0, 50000};
  for (;;) nanosleep(&moment, NULL);
  return NULL;
}
R cuptiActivityRegisterCallbacks(void *r, void *c) {
  static pthread_t worker;
  if (worker == 0) pthread_create(&worker, NULL, work, NULL);
  request = r;
  complete = c;
  return 0;
}
R cuptiActivityEnable(int kind) { if (refused) return 1; enabled[kind] = 1; return 0; }
R cuptiActivityDisable(int kind) { enabled[kind] = 0; return 0; }
R cuptiActivityFlushAll(uint32_t flag) {
  SYNCHRONISE;
  await_givers();
  if (held && flag == 0) return 0;
  if (buffer != NULL) complete(NULL, 0, buffer, capacity, filled);
  buffer = NULL;
  return 0;
}
R cuptiActivityGetNextRecord(uint8_t *from, size_t valid, uint8_t **record) {
  uint8_t *next = *record == NULL ? from : *record + record_bytes[*(uint32_t *)*record];
  if (next >= from + valid) return 12;
  *record = next;
  return 0;
}
