/* Streams, events and graphs of the fake driver, part of fake-cuda.c. What a stream is given is carried out at
   once; or, while `lag` is not zero, by a thread: one operation after the other, in an order among the streams
   that a seed chooses. Calls that may wait for all work of a context then do wait for it. */

#include <errno.h>
#include <pthread.h>

/* A recording of an event. An event may be recorded again while a former recording is still to be reached. */
struct recording { long reached; };
struct event { struct timespec time; struct recording *last; struct graph *graph; };
struct operation {
  struct operation *next;
  void (*run)(struct operation *);
  uint64_t a, b, c, more[29];
};
struct graph { struct operation *first, *last; };
struct stream { H handle; struct stream *next; struct operation *first, *last; struct graph *graph; };

static struct stream *streams;
static int lag = 0, paused = 0, outstanding = 0;
static uint32_t chance = 1;
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static struct stream *stream_of(H handle) {
  struct stream *s = streams;
  while (s != NULL && s->handle != handle) s = s->next;
  return s;
}

static void run_wait(struct operation *o) {}
static int is_ready(struct operation *o) {
  return o->run != run_wait || o->b == 0 || ((struct recording *)o->b)->reached;
}

/* The next operation of a stream that can go on, chosen by chance; null if there is none. */
static struct operation *take_next(void) {
  struct stream *ready[256];
  int count = 0;
  for (struct stream *s = streams; s != NULL && count < 256; s = s->next)
    if (s->first != NULL && is_ready(s->first)) ready[count++] = s;
  if (count == 0) return NULL;
  chance = chance * 1664525 + 1013904223;
  struct stream *s = ready[(chance >> 8) % count];
  struct operation *o = s->first;
  s->first = o->next;
  return o;
}

static void *carry_out(void *argument) {
  pthread_mutex_lock(&turn);
  for (;;) {
    struct operation *o = paused ? NULL : take_next();
    if (o == NULL) {
      pthread_cond_wait(&changed, &turn);
      continue;
    }
    o->run(o);
    free(o);
    --outstanding;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&turn);
    const struct timespec time = {0, lag * 1000L};
    nanosleep(&time, NULL);
    pthread_mutex_lock(&turn);
  }
}

/* Waits until it is so; false if that takes longer than anything here does. */
static int await(int (*is_so)(H), H of) {
  struct timespec end;
  clock_gettime(CLOCK_REALTIME, &end);
  end.tv_sec += 5;
  int late = 0;
  pthread_mutex_lock(&turn);
  while (!is_so(of) && !late) late = pthread_cond_timedwait(&changed, &turn, &end) == ETIMEDOUT;
  pthread_mutex_unlock(&turn);
  return !late;
}
static int is_idle(H of) { return outstanding == 0; }
static int is_empty(H stream) { struct stream *s = stream_of(stream); return s == NULL || s->first == NULL; }
static int is_reached(H event) { struct event *e = (struct event *)event; return e->last == NULL || e->last->reached; }
/* Of calls that may wait for the context: an error if its work does not end. */
#define AWAIT(is_so, of)               \
  do {                                 \
    ANSWER;                            \
    if (!await(is_so, of)) return 702; \
  } while (0)
#define SYNCHRONISE AWAIT(is_idle, 0)

static void append(struct operation **first, struct operation **last, struct operation *o) {
  if (*first == NULL) *first = o;
  else (*last)->next = o;
  *last = o;
}
static void submit(H stream, struct operation operation) {
  struct stream *s = stream_of(stream);
  struct operation *o = malloc(sizeof *o);
  *o = operation;
  o->next = NULL;
  if (s != NULL && s->graph != NULL) {
    append(&s->graph->first, &s->graph->last, o);
    return;
  }
  pthread_mutex_lock(&turn);
  if (s == NULL || (lag == 0 && s->first == NULL)) {
    o->run(o);
    free(o);
  } else {
    append(&s->first, &s->last, o);
    ++outstanding;
  }
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&turn);
}
static int is_captured(H stream) {
  struct stream *s = stream_of(stream);
  return s != NULL && s->graph != NULL;
}

/* From now on streams take time: so many microseconds an operation, or none. */
void fake_lag(int microseconds, int seed) {
  static int started = 0;
  await(is_idle, 0);
  lag = microseconds;
  chance = seed;
  pthread_t thread;
  if (lag > 0 && !started++) pthread_create(&thread, NULL, carry_out, NULL);
}

/* While it is so, streams that take time begin nothing. */
void fake_pause(int is_so) {
  pthread_mutex_lock(&turn);
  paused = is_so;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&turn);
}

/* What streams were given since the log was begun: four words each, of which the first is the kind (1 a recorded event, 2 a
   wait for one, 3 a set, 4 a launch, 5 a copy, 6 a graph), the second the stream; then an event and which of its recordings, a set's bytes, the
   last word of a launch's parameters, both addresses of a copy, or a graph. */
static uint64_t *given_log;
static int given = 0, most_given = 0;
static pthread_mutex_t logging = PTHREAD_MUTEX_INITIALIZER;
void fake_log(uint64_t *log, int most) { given_log = log, given = 0, most_given = most; }
int fake_logged(void) { return given; }
static void log_given(H stream, struct operation *o, int kind) {
  pthread_mutex_lock(&logging);
  uint64_t words[] = {kind, stream, kind == 3 ? o->c : o->a, kind == 3 || kind == 4 ? 0 : o->b};
  if (given < most_given) memcpy(given_log + 4 * given++, words, sizeof words);
  pthread_mutex_unlock(&logging);
}

/* Streams */
R cuStreamCreateWithPriority(H *stream, unsigned flags, int priority) {
  ANSWER;
  struct stream *s = calloc(1, sizeof *s);
  *stream = s->handle = next_handle();
  pthread_mutex_lock(&turn);
  s->next = streams;
  streams = s;
  pthread_mutex_unlock(&turn);
  return 0;
}
R cuStreamDestroy_v2(H stream) {
  pthread_mutex_lock(&turn);
  for (struct stream **s = &streams; *s != NULL; s = &(*s)->next) {
    if ((*s)->handle != stream || (*s)->first != NULL) continue;
    struct stream *gone = *s;
    *s = gone->next;
    free(gone);
    break;
  }
  pthread_mutex_unlock(&turn);
  return 0;
}
R cuStreamQuery(H stream) {
  ANSWER;
  pthread_mutex_lock(&turn);
  int empty = is_empty(stream);
  pthread_mutex_unlock(&turn);
  return empty ? 0 : 600;
}
R cuStreamSynchronize(H stream) { AWAIT(is_empty, stream); return 0; }
R cuCtxSynchronize(void) { SYNCHRONISE; return 0; }

/* Events */
static void run_record(struct operation *o) {
  struct event *e = (struct event *)o->a;
  struct recording *recording = (struct recording *)o->b;
  if (e->last == recording) clock_gettime(CLOCK_MONOTONIC, &e->time);
  recording->reached = 1;
}
R cuEventCreate(H *event, unsigned flags) { ANSWER; *event = (H)calloc(1, sizeof(struct event)); return 0; }
R cuEventDestroy_v2(H event) { return 0; }
R cuEventRecord(H event, H stream) {
  ANSWER;
  struct event *e = (struct event *)event;
  struct stream *s = stream_of(stream);
  e->graph = s == NULL ? NULL : s->graph;
  if (e->graph != NULL) return 0;
  e->last = calloc(1, sizeof *e->last);
  struct operation o = {.run = run_record, .a = event, .b = (uint64_t)e->last};
  log_given(stream, &o, 1);
  submit(stream, o);
  return 0;
}
R cuStreamWaitEvent(H stream, H event, unsigned flags) {
  ANSWER;
  struct event *e = (struct event *)event;
  /* A stream joins a capture. Its operations are carried out in the order of issue, which is one of those allowed. */
  if (e->graph != NULL) stream_of(stream)->graph = e->graph;
  else {
    struct operation o = {.run = run_wait, .a = event, .b = (uint64_t)e->last};
    log_given(stream, &o, 2);
    submit(stream, o);
  }
  return 0;
}
R cuEventQuery(H event) {
  ANSWER;
  pthread_mutex_lock(&turn);
  int reached = is_reached(event);
  pthread_mutex_unlock(&turn);
  return reached ? 0 : 600;
}
R cuEventSynchronize(H event) { AWAIT(is_reached, event); return 0; }
R cuEventElapsedTime(float *milliseconds, H start, H stop) {
  if (cuEventQuery(start) != 0 || cuEventQuery(stop) != 0) return 600;
  struct timespec *a = (struct timespec *)start, *b = (struct timespec *)stop;
  *milliseconds = (b->tv_sec - a->tv_sec) * 1e3 + (b->tv_nsec - a->tv_nsec) / 1e6;
  return 0;
}

/* Graphs: an executable one is the graph that was captured. */
static void run_graph(struct operation *o) {
  for (struct operation *each = ((struct graph *)o->a)->first; each != NULL; each = each->next) each->run(each);
}
R cuStreamBeginCapture_v2(H stream, int mode) {
  ANSWER;
  stream_of(stream)->graph = calloc(1, sizeof(struct graph));
  return 0;
}
R cuStreamEndCapture(H stream, H *graph) {
  ANSWER;
  struct graph *captured = stream_of(stream)->graph;
  for (struct stream *s = streams; s != NULL; s = s->next)
    if (s->graph == captured) s->graph = NULL;
  *graph = (H)captured;
  return 0;
}
static int graphs = 0;
/* Executable graphs that were made and not given back. */
int fake_graphs(void) { return graphs; }
R cuGraphInstantiateWithFlags(H *executable, H graph, uint64_t flags) {
  SYNCHRONISE;
  ++graphs;
  *executable = graph;
  return 0;
}
R cuGraphLaunch(H executable, H stream) {
  ANSWER;
  struct operation o = {.run = run_graph, .a = executable};
  log_given(stream, &o, 6);
  submit(stream, o);
  return 0;
}
R cuGraphExecDestroy(H executable) { --graphs; return 0; }
R cuGraphDestroy(H graph) { return 0; }
