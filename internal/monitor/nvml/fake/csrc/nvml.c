// A libnvidia-ml.so.1 that says what a script tells it to. README.md of the folder
// above has the script's words and why this is C.
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define API __attribute__((visibility("default")))
typedef unsigned int u32;
typedef unsigned long long u64;
typedef int ret;
typedef void *handle;

enum { OK = 0, UNINIT = 1, INVALID = 2, NOSUP = 3, NOTFOUND = 6, SMALL = 7, NOFUNC = 13, LOST = 15, VERSION = 25 };

// The values of a GPU, by the words of the script. In the script's units.
enum key {
  UTIL, MEMUTIL, TOTAL, USED, RESERVED, POWER, LIMIT, ENERGY, TEMP, TEMPLIMIT, FAN, SM, SMMAX, MEM, MEMMAX, REASONS, PSTATE,
  TX, RX, GEN, GENMAX, WIDTH, WIDTHMAX, ENC, DEC, ECC, REMAPPED, VPOWER, VTHERMAL, INSTANT, NVTX, NVRX, SMACTIVE, OCCUPANCY, TENSOR, DRAM, KEYS
};
static const char *const words[KEYS] = {
  "util", "memutil", "total", "used", "reserved", "power", "limit", "energy", "temp", "templimit", "fan", "sm", "smmax", "mem", "memmax",
  "reasons", "pstate", "tx", "rx", "gen", "genmax", "width", "widthmax", "enc", "dec", "ecc", "remapped", "vpower", "vthermal", "instant", "nvtx", "nvrx",
  "smactive", "occupancy", "tensor", "dram",
};
// What a GPU has that the script says nothing of; NAN is not supported.
static const double defaults[KEYS] = {
  0, 0, 81559, 1, 551, 70, 700, 0, 30, 87, NAN, 345, 1980, 2619, 2619, 1, 0, 0, 0, 5, 5, 16, 16, 0, 0, 0, 0, 0, 0, NAN, NAN, NAN, NAN, NAN, NAN, NAN,
};

enum { MAXGPU = 64, MAXMIG = 8, MAXRULE = 64, MAXROW = 200000 };
struct mig { char profile[32]; double total, used; };
struct gpu {
  double v[KEYS];
  char name[96], uuid[80], pci[32];
  int there, lost, mig, migs, unified;
  struct mig slice[MAXMIG];
};
struct proc { int gpu, pid, gi; double mib; int sm; char type; };
struct rule { char call[64]; int gpu; double n; }; // n: seconds or a code
struct row { double t, v[KEYS]; int gpu; };

static struct {
  char driver[80];
  int cuda, init, gpus;
  struct gpu gpu[MAXGPU];
  struct proc *proc; int procs, procroom;
  struct rule hang[MAXRULE], fail[MAXRULE]; int hangs, fails;
  struct row *row; int rows, rowroom; double loop;
  struct { int gpu, code; } xid[MAXRULE]; int xids;
} S;
static int started, told; // nvmlInit calls; XIDs told so far
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct timespec changed; static long long size = -1; static ino_t inode;
static double began;

static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec + t.tv_nsec / 1e9; }

static int keyof(const char *w) { for (int i = 0; i < KEYS; i++) if (!strcmp(w, words[i])) return i; return -1; }

static void underscores(char *s) { for (; *s; s++) if (*s == '_') *s = ' '; }

static struct gpu *gpu(int i) {
  if (i < 0 || i >= MAXGPU) return NULL;
  struct gpu *g = &S.gpu[i];
  if (!g->there) {
    memcpy(g->v, defaults, sizeof defaults);
    g->there = 1;
    strcpy(g->name, "NVIDIA H100 80GB HBM3");
    snprintf(g->uuid, sizeof g->uuid, "GPU-fa4e0000-0000-4000-8000-%012x", i + 1);
    snprintf(g->pci, sizeof g->pci, "00000000:%02X:00.0", 0x18 + i);
    if (i >= S.gpus) S.gpus = i + 1;
  }
  return g;
}

static void gpuword(struct gpu *g, char *w) {
  char *eq = strchr(w, '=');
  if (!eq) return;
  *eq++ = 0;
  int k = keyof(w);
  if (k >= 0) g->v[k] = strcmp(eq, "na") ? strtod(eq, NULL) : NAN;
  else if (!strcmp(w, "name")) { snprintf(g->name, sizeof g->name, "%s", eq); underscores(g->name); }
  else if (!strcmp(w, "uuid")) snprintf(g->uuid, sizeof g->uuid, "%s", eq);
  else if (!strcmp(w, "pci")) snprintf(g->pci, sizeof g->pci, "%s", eq);
  else if (!strcmp(w, "lost")) g->lost = atoi(eq);
  else if (!strcmp(w, "mig")) g->mig = atoi(eq);
  else if (!strcmp(w, "unified")) g->unified = atoi(eq);
  else if (!strcmp(w, "nosup")) {
    char *save, *p = strtok_r(eq, ",", &save);
    for (; p; p = strtok_r(NULL, ",", &save)) if ((k = keyof(p)) >= 0) g->v[k] = NAN;
  }
}

static void addproc(struct proc p) {
  if (S.procs == S.procroom) S.proc = realloc(S.proc, (S.procroom = S.procroom ? 2 * S.procroom : 64) * sizeof *S.proc);
  S.proc[S.procs++] = p;
}

// csv reads rows of seconds, gpu and any of words.
static void csv(const char *name) {
  FILE *f = fopen(name, "r");
  if (!f) return;
  char line[4096]; int col[64], cols = 0;
  while (fgets(line, sizeof line, f) && S.rows < MAXROW) {
    char *rest = line, *p;
    struct row r = {0};
    line[strcspn(line, "\r\n")] = 0;
    if (!cols) {
      while ((p = strsep(&rest, ",")) && cols < 64) col[cols++] = !strcmp(p, "seconds") ? -2 : !strcmp(p, "gpu") ? -3 : keyof(p);
      continue;
    }
    for (int k = 0; k < KEYS; k++) r.v[k] = INFINITY; // says nothing
    for (int i = 0; i < cols && (p = strsep(&rest, ",")); i++) {
      if (!*p) continue; // says nothing
      double v = strcmp(p, "na") ? strtod(p, NULL) : NAN;
      if (col[i] == -2) r.t = v; else if (col[i] == -3) r.gpu = v; else if (col[i] >= 0) r.v[col[i]] = v;
    }
    if (S.rows == S.rowroom) S.row = realloc(S.row, (S.rowroom = S.rowroom ? 2 * S.rowroom : 256) * sizeof *S.row);
    S.row[S.rows++] = r;
  }
  fclose(f);
}

static void addrule(struct rule *to, int *n, char *call, char *who, char *what) {
  if (!call || !what || *n == MAXRULE) return;
  struct rule r = {.gpu = !strcmp(who, "*") ? -1 : atoi(who), .n = !strcmp(what, "forever") ? INFINITY : strtod(what, NULL)};
  snprintf(r.call, sizeof r.call, "%s", call);
  to[(*n)++] = r;
}

static void parse(FILE *f) {
  struct proc *proc = S.proc; int procroom = S.procroom; struct row *row = S.row; int rowroom = S.rowroom;
  memset(&S, 0, sizeof S);
  S.proc = proc; S.procroom = procroom; S.row = row; S.rowroom = rowroom;
  strcpy(S.driver, "570.86.15"); S.cuda = 12080;
  char line[8192];
  while (fgets(line, sizeof line, f)) {
    char *w[32], *save; int n = 0;
    for (char *p = strtok_r(line, " \t\r\n", &save); p && n < 32 && *p != '#'; p = strtok_r(NULL, " \t\r\n", &save)) w[n++] = p;
    for (int i = n; i < 32; i++) w[i] = NULL;
    if (n < 2) continue;
    struct gpu *g;
    if (!strcmp(w[0], "driver")) snprintf(S.driver, sizeof S.driver, "%s", w[1]);
    else if (!strcmp(w[0], "cuda")) S.cuda = atoi(w[1]);
    else if (!strcmp(w[0], "init")) S.init = atoi(w[1]);
    else if (!strcmp(w[0], "gpus")) for (int i = 0; i < atoi(w[1]); i++) gpu(i);
    else if (!strcmp(w[0], "gpu") && (g = gpu(atoi(w[1])))) for (int i = 2; i < n; i++) gpuword(g, w[i]);
    else if (!strcmp(w[0], "slice") && n >= 5 && (g = gpu(atoi(w[1]))) && g->migs < MAXMIG) {
      struct mig *m = &g->slice[g->migs++];
      g->mig = 1; snprintf(m->profile, sizeof m->profile, "%s", w[2]); m->total = atof(w[3]); m->used = atof(w[4]);
    }
    else if (!strcmp(w[0], "proc") && n >= 4)
      addproc((struct proc){atoi(w[1]), atoi(w[2]), w[6] ? atoi(w[6]) : -1, strcmp(w[3], "na") ? atof(w[3]) : NAN, w[4] && strcmp(w[4], "-") ? atoi(w[4]) : -1, w[5] ? *w[5] : 'C'});
    else if (!strcmp(w[0], "procs") && n >= 5) for (int i = 0; i < atoi(w[3]); i++) addproc((struct proc){atoi(w[1]), atoi(w[2]) + i, -1, atof(w[4]), 0, 'C'});
    else if (!strcmp(w[0], "hang") && n >= 4) addrule(S.hang, &S.hangs, w[1], w[2], w[3]);
    else if (!strcmp(w[0], "fail") && n >= 4) addrule(S.fail, &S.fails, w[1], w[2], w[3]);
    else if (!strcmp(w[0], "xid") && n >= 3 && S.xids < MAXRULE) { S.xid[S.xids].gpu = atoi(w[1]); S.xid[S.xids++].code = atoi(w[2]); }
    else if (!strcmp(w[0], "csv")) { csv(w[1]); S.loop = w[2] ? atof(w[2]) : 0; }
  }
}

// refresh reads the script if it changed. Held: lock.
static void refresh(void) {
  const char *name = getenv("PLIMSOLL_FAKE_NVML");
  struct stat st;
  if (began == 0) began = now();
  if (!name || stat(name, &st)) { if (size < 0) { size = 0; strcpy(S.driver, "570.86.15"); S.cuda = 12080; } return; }
  if (st.st_size == size && st.st_ino == inode && st.st_mtim.tv_sec == changed.tv_sec && st.st_mtim.tv_nsec == changed.tv_nsec) return;
  FILE *f = fopen(name, "r");
  if (!f) return;
  size = st.st_size; inode = st.st_ino; changed = st.st_mtim;
  parse(f);
  fclose(f);
}

static double ruled(struct rule *r, int n, const char *call, int gpu) {
  for (int i = 0; i < n; i++)
    if ((r[i].gpu < 0 || r[i].gpu == gpu) && (!strcmp(r[i].call, "*") || !strcmp(r[i].call, call))) return r[i].n;
  return 0;
}

// enter begins a call: it hangs or fails as the script says, as long as it says so.
static ret enter(const char *call, int gpu) {
  double start = now();
  for (;;) {
    pthread_mutex_lock(&lock);
    refresh();
    double hang = ruled(S.hang, S.hangs, call, gpu), fail = ruled(S.fail, S.fails, call, gpu);
    pthread_mutex_unlock(&lock);
    if (now() - start >= hang) return (ret)fail;
    usleep(2000);
  }
}

// A handle is GPU + 1, and for an instance 256 * (instance + 1) more.
#define GPUOF(h) ((int)(((size_t)(h) & 255) - 1))
#define SLICEOF(h) ((int)(((size_t)(h) >> 8) - 1))

// device begins a call for a GPU and copies what it has now.
static ret device(const char *call, handle h, struct gpu *g) {
  int i = GPUOF(h);
  ret r = enter(call, i);
  if (r) return r;
  if (!started) return UNINIT;
  if (i < 0 || i >= MAXGPU) return INVALID;
  pthread_mutex_lock(&lock);
  *g = S.gpu[i];
  double t = now() - began;
  if (S.loop > 0) t = fmod(t, S.loop);
  for (int k = 0; k < S.rows && S.row[k].t <= t; k++)
    if (S.row[k].gpu == i) for (int j = 0; j < KEYS; j++) if (!isinf(S.row[k].v[j])) g->v[j] = S.row[k].v[j];
  pthread_mutex_unlock(&lock);
  if (!g->there) return INVALID;
  return g->lost ? LOST : OK;
}

#define DEVICE(h) struct gpu g; { ret r_ = device(__func__, h, &g); if (r_) return r_; }
#define WHOLE(h) DEVICE(h) if (SLICEOF(h) >= 0) return NOSUP;
#define NUMBER(key, out, scale) do { if (isnan(g.v[key])) return NOSUP; *(out) = (g.v[key] * (scale)); return OK; } while (0)
#define MIB(x) ((u64)((x) * 1048576))

// ---- library and system
static ret init(const char *call) {
  ret r = enter(call, -1);
  if (r) return r;
  pthread_mutex_lock(&lock);
  r = S.init;
  if (!r) started++;
  pthread_mutex_unlock(&lock);
  return r;
}
API ret nvmlInit(void) { return init("nvmlInit"); }
API ret nvmlInit_v2(void) { return init("nvmlInit"); }
API ret nvmlInitWithFlags(u32 flags) { (void)flags; return init("nvmlInit"); }
API ret nvmlShutdown(void) { if (!started) return UNINIT; started--; return OK; }
API const char *nvmlErrorString(ret r) {
  switch (r) {
    case 0: return "Success"; case 1: return "Uninitialized"; case 2: return "Invalid Argument"; case 3: return "Not Supported"; case 4: return "Insufficient Permissions";
    case 6: return "Not Found"; case 7: return "Insufficient Size"; case 9: return "Driver Not Loaded"; case 10: return "Timeout"; case 12: return "NVML Shared Library Not Found";
    case 13: return "Function Not Found"; case 15: return "GPU is lost"; case 16: return "GPU requires reset"; case 17: return "The operating system has blocked the request";
    case 18: return "Driver/library version mismatch"; case 25: return "Argument version mismatch"; default: return "Unknown Error";
  }
}
#define SYSTEM() do { ret r_ = enter(__func__, -1); if (r_) return r_; if (!started) return UNINIT; } while (0)
API ret nvmlSystemGetDriverVersion(char *s, u32 n) { SYSTEM(); snprintf(s, n, "%s", S.driver); return OK; }
API ret nvmlSystemGetNVMLVersion(char *s, u32 n) { SYSTEM(); snprintf(s, n, "12.%s", S.driver); return OK; }
API ret nvmlSystemGetCudaDriverVersion(int *v) { SYSTEM(); *v = S.cuda; return OK; }
API ret nvmlSystemGetCudaDriverVersion_v2(int *v) { SYSTEM(); *v = S.cuda; return OK; }
API ret nvmlDeviceGetCount_v2(u32 *n) { SYSTEM(); *n = S.gpus; return OK; }
API ret nvmlDeviceGetCount(u32 *n) { return nvmlDeviceGetCount_v2(n); }
API ret nvmlDeviceGetHandleByIndex_v2(u32 i, handle *h) {
  ret r = enter(__func__, (int)i);
  if (r) return r;
  if (!started) return UNINIT;
  if (i >= (u32)S.gpus) return INVALID;
  if (S.gpu[i].lost == 2) return LOST;
  *h = (handle)(size_t)(i + 1);
  return OK;
}
API ret nvmlDeviceGetHandleByIndex(u32 i, handle *h) { return nvmlDeviceGetHandleByIndex_v2(i, h); }
API ret nvmlDeviceGetHandleByUUID(const char *id, handle *h) {
  SYSTEM();
  for (int i = 0; i < S.gpus; i++) if (!strcmp(S.gpu[i].uuid, id)) { if (S.gpu[i].lost == 2) return LOST; *h = (handle)(size_t)(i + 1); return OK; }
  return NOTFOUND;
}

// ---- identity
static void sliceid(struct gpu *g, int slice, char *s, u32 n) { snprintf(s, n, "MIG-%s%d", g->uuid + 4, slice); }
// A GPU that is lost still has its name: the library keeps it.
#define IDENTITY(h) struct gpu g; { ret r_ = device(__func__, h, &g); if (r_ && r_ != LOST) return r_; }
API ret nvmlDeviceGetUUID(handle h, char *s, u32 n) { IDENTITY(h) if (SLICEOF(h) >= 0) sliceid(&g, SLICEOF(h), s, n); else snprintf(s, n, "%s", g.uuid); return OK; }
API ret nvmlDeviceGetName(handle h, char *s, u32 n) {
  IDENTITY(h)
  if (SLICEOF(h) >= 0) snprintf(s, n, "%s MIG %s", g.name, g.slice[SLICEOF(h) % MAXMIG].profile); else snprintf(s, n, "%s", g.name);
  return OK;
}
API ret nvmlDeviceGetIndex(handle h, u32 *i) { IDENTITY(h) *i = SLICEOF(h) >= 0 ? SLICEOF(h) : GPUOF(h); return OK; }
API ret nvmlDeviceGetMinorNumber(handle h, u32 *i) { IDENTITY(h) *i = GPUOF(h); return OK; }
struct pci { char legacy[16]; u32 domain, bus, device, id, sub; char bus_id[32]; };
API ret nvmlDeviceGetPciInfo_v3(handle h, struct pci *p) {
  IDENTITY(h)
  memset(p, 0, sizeof *p);
  snprintf(p->bus_id, sizeof p->bus_id, "%s", g.pci);
  sscanf(g.pci, "%x:%x:%x", &p->domain, &p->bus, &p->device);
  snprintf(p->legacy, sizeof p->legacy, "%04x:%02x:%02x.0", p->domain & 0xffff, p->bus & 0xff, p->device & 0xff);
  return OK;
}
API ret nvmlDeviceGetPciInfo_v2(handle h, struct pci *p) { return nvmlDeviceGetPciInfo_v3(h, p); }
API ret nvmlDeviceGetPciInfo(handle h, struct pci *p) { return nvmlDeviceGetPciInfo_v3(h, p); }

// ---- values
struct memory { u64 total, free, used; };
struct memory2 { u32 version; u64 total, reserved, free, used; };
static ret memory(const char *call, handle h, struct memory2 *m) {
  struct gpu g; ret r = device(call, h, &g);
  if (r) return r;
  double total = g.v[TOTAL], used = g.v[USED], reserved = isnan(g.v[RESERVED]) ? 0 : g.v[RESERVED];
  if (g.unified) return NOSUP;
  if (SLICEOF(h) >= 0) { total = g.slice[SLICEOF(h) % MAXMIG].total; used = g.slice[SLICEOF(h) % MAXMIG].used; reserved = 0; }
  if (isnan(total) || isnan(used)) return NOSUP;
  m->total = MIB(total); m->used = MIB(used); m->reserved = MIB(reserved); m->free = MIB(total - used - reserved);
  return OK;
}
API ret nvmlDeviceGetMemoryInfo_v2(handle h, struct memory2 *m) {
  if (m->version != (sizeof *m | 2 << 24) && m->version != 2) return VERSION;
  return memory(__func__, h, m);
}
// The first version counts what the driver reserves as used.
API ret nvmlDeviceGetMemoryInfo(handle h, struct memory *m) {
  struct memory2 v; ret r = memory(__func__, h, &v);
  if (!r) *m = (struct memory){v.total, v.free, v.used + v.reserved};
  return r;
}
struct rates { u32 gpu, memory; };
API ret nvmlDeviceGetUtilizationRates(handle h, struct rates *u) {
  WHOLE(h)
  if (g.mig || isnan(g.v[UTIL]) || isnan(g.v[MEMUTIL])) return NOSUP;
  u->gpu = g.v[UTIL]; u->memory = g.v[MEMUTIL];
  return OK;
}
API ret nvmlDeviceGetPowerUsage(handle h, u32 *v) { WHOLE(h) NUMBER(POWER, v, 1000); }
API ret nvmlDeviceGetEnforcedPowerLimit(handle h, u32 *v) { WHOLE(h) NUMBER(LIMIT, v, 1000); }
API ret nvmlDeviceGetPowerManagementLimit(handle h, u32 *v) { WHOLE(h) NUMBER(LIMIT, v, 1000); }
API ret nvmlDeviceGetTotalEnergyConsumption(handle h, u64 *v) { WHOLE(h) NUMBER(ENERGY, v, 1000); }
API ret nvmlDeviceGetTemperature(handle h, u32 sensor, u32 *v) { (void)sensor; WHOLE(h) NUMBER(TEMP, v, 1); }
struct temperature { u32 version, sensor; int degrees; };
API ret nvmlDeviceGetTemperatureV(handle h, struct temperature *t) { WHOLE(h) NUMBER(TEMP, &t->degrees, 1); }
API ret nvmlDeviceGetTemperatureThreshold(handle h, u32 which, u32 *v) { (void)which; WHOLE(h) NUMBER(TEMPLIMIT, v, 1); }
API ret nvmlDeviceGetFanSpeed(handle h, u32 *v) { WHOLE(h) NUMBER(FAN, v, 1); }
// Clocks: 0 graphics, 1 multiprocessors, 2 memory, 3 video.
API ret nvmlDeviceGetClockInfo(handle h, u32 t, u32 *v) { WHOLE(h) NUMBER(t == 2 ? MEM : SM, v, 1); }
API ret nvmlDeviceGetMaxClockInfo(handle h, u32 t, u32 *v) { WHOLE(h) NUMBER(t == 2 ? MEMMAX : SMMAX, v, 1); }
API ret nvmlDeviceGetCurrentClocksEventReasons(handle h, u64 *v) { WHOLE(h) NUMBER(REASONS, v, 1); }
API ret nvmlDeviceGetCurrentClocksThrottleReasons(handle h, u64 *v) { WHOLE(h) NUMBER(REASONS, v, 1); }
struct violation { u64 reference, time; };
API ret nvmlDeviceGetViolationStatus(handle h, u32 policy, struct violation *v) {
  WHOLE(h)
  v->reference = (u64)(now() * 1e6);
  if (policy > 1) return NOSUP;
  NUMBER(policy ? VTHERMAL : VPOWER, &v->time, 1e9);
}
API ret nvmlDeviceGetPerformanceState(handle h, u32 *v) { WHOLE(h) NUMBER(PSTATE, v, 1); }
API ret nvmlDeviceGetPowerState(handle h, u32 *v) { WHOLE(h) NUMBER(PSTATE, v, 1); }
// As the real one, it measures for 20 ms.
API ret nvmlDeviceGetPcieThroughput(handle h, u32 counter, u32 *v) { WHOLE(h) usleep(20000); NUMBER(counter ? RX : TX, v, 1); }
API ret nvmlDeviceGetCurrPcieLinkGeneration(handle h, u32 *v) { WHOLE(h) NUMBER(GEN, v, 1); }
API ret nvmlDeviceGetMaxPcieLinkGeneration(handle h, u32 *v) { WHOLE(h) NUMBER(GENMAX, v, 1); }
API ret nvmlDeviceGetCurrPcieLinkWidth(handle h, u32 *v) { WHOLE(h) NUMBER(WIDTH, v, 1); }
API ret nvmlDeviceGetMaxPcieLinkWidth(handle h, u32 *v) { WHOLE(h) NUMBER(WIDTHMAX, v, 1); }
API ret nvmlDeviceGetEncoderUtilization(handle h, u32 *v, u32 *us) { WHOLE(h) *us = 166666; if (g.mig) return NOSUP; NUMBER(ENC, v, 1); }
API ret nvmlDeviceGetDecoderUtilization(handle h, u32 *v, u32 *us) { WHOLE(h) *us = 166666; if (g.mig) return NOSUP; NUMBER(DEC, v, 1); }
API ret nvmlDeviceGetTotalEccErrors(handle h, u32 kind, u32 counter, u64 *v) { (void)counter; WHOLE(h) if (isnan(g.v[ECC])) return NOSUP; *v = kind ? g.v[ECC] : 0; return OK; }
API ret nvmlDeviceGetRemappedRows(handle h, u32 *fixed, u32 *not, u32 *pending, u32 *failed) { WHOLE(h) *fixed = *pending = *failed = 0; NUMBER(REMAPPED, not, 1); }
API ret nvmlDeviceGetComputeMode(handle h, u32 *v) { WHOLE(h) *v = 0; return OK; }
API ret nvmlDeviceGetDisplayActive(handle h, u32 *v) { WHOLE(h) *v = 0; return OK; }
API ret nvmlDeviceGetDisplayMode(handle h, u32 *v) { WHOLE(h) *v = 0; return OK; }
API ret nvmlDeviceGetPersistenceMode(handle h, u32 *v) { WHOLE(h) *v = 1; return OK; }
// Only Windows has models of drivers; only some GPUs compute in confidence.
API ret nvmlDeviceGetDriverModel(handle h, u32 *now, u32 *next) { (void)now; (void)next; WHOLE(h) return NOSUP; }
API ret nvmlDeviceGetDriverModel_v2(handle h, u32 *now, u32 *next) { (void)now; (void)next; WHOLE(h) return NOSUP; }
API ret nvmlDeviceGetConfComputeMemSizeInfo(handle h, void *v) { (void)v; WHOLE(h) return NOSUP; }

struct field { u32 id, scope; long long at, took; u32 type; ret r; union { double d; u32 u; u64 ull; } v; };
API ret nvmlDeviceGetFieldValues(handle h, int n, struct field *f) {
  WHOLE(h)
  static const struct { u32 id; int key; double scale; u32 type; } fields[] = {
    {83, ENERGY, 1000, 3}, {138, NVTX, 1, 3}, {139, NVRX, 1, 3}, {185, POWER, 1000, 1}, {186, INSTANT, 1000, 1}, {191, ENERGY, 1000, 3},
  };
  for (int i = 0; i < n; i++) {
    f[i].r = NOSUP;
    f[i].at = (long long)(now() * 1e6);
    for (size_t k = 0; k < sizeof fields / sizeof *fields; k++) {
      if (fields[k].id != f[i].id || isnan(g.v[fields[k].key])) continue;
      double v = g.v[fields[k].key] * fields[k].scale;
      f[i].type = fields[k].type; f[i].r = OK;
      if (fields[k].type == 1) f[i].v.u = (u32)v; else f[i].v.ull = (u64)v;
    }
  }
  return OK;
}

// ---- instances
API ret nvmlDeviceGetMigMode(handle h, u32 *current, u32 *pending) { WHOLE(h) if (g.mig < 0) return NOSUP; *current = *pending = g.mig; return OK; }
API ret nvmlDeviceGetMaxMigDeviceCount(handle h, u32 *n) { WHOLE(h) *n = g.mig > 0 ? 7 : 0; return OK; }
API ret nvmlDeviceGetMigDeviceHandleByIndex(handle h, u32 i, handle *out) {
  WHOLE(h)
  if (i >= (u32)g.migs) return NOTFOUND;
  *out = (handle)((size_t)h | (size_t)(i + 1) << 8);
  return OK;
}
API ret nvmlDeviceIsMigDeviceHandle(handle h, u32 *v) { IDENTITY(h) *v = SLICEOF(h) >= 0; return OK; }
API ret nvmlDeviceGetDeviceHandleFromMigDeviceHandle(handle h, handle *out) { IDENTITY(h) if (SLICEOF(h) < 0) return INVALID; *out = (handle)((size_t)h & 255); return OK; }
API ret nvmlDeviceGetGpuInstanceId(handle h, u32 *id) { IDENTITY(h) if (SLICEOF(h) < 0) return NOSUP; *id = SLICEOF(h) + 1; return OK; }
API ret nvmlDeviceGetComputeInstanceId(handle h, u32 *id) { IDENTITY(h) if (SLICEOF(h) < 0) return NOSUP; *id = 0; return OK; }
struct attributes { u32 sms, copy, dec, enc, jpeg, ofa, slices, compute; u64 mib; };
API ret nvmlDeviceGetAttributes_v2(handle h, struct attributes *a) {
  IDENTITY(h)
  if (SLICEOF(h) < 0) return NOSUP;
  memset(a, 0, sizeof *a);
  a->slices = a->compute = (u32)atoi(g.slice[SLICEOF(h) % MAXMIG].profile); a->sms = 16 * a->slices; a->mib = (u64)g.slice[SLICEOF(h) % MAXMIG].total;
  return OK;
}

// ---- processes
struct proc1 { u32 pid; u64 used; };
struct proc2 { u32 pid; u64 used; u32 gi, ci; };
static ret processes(const char *call, handle h, char type, u32 *n, struct proc1 *v1, struct proc2 *v2) {
  struct gpu g; ret r = device(call, h, &g);
  if (r) return r;
  u32 room = *n, found = 0;
  pthread_mutex_lock(&lock);
  for (int i = 0; i < S.procs; i++) {
    struct proc *p = &S.proc[i];
    if (p->gpu != GPUOF(h) || p->type != type || (SLICEOF(h) >= 0 && p->gi != SLICEOF(h))) continue;
    u64 used = isnan(p->mib) ? ~0ULL : MIB(p->mib);
    if (found < room && v1) v1[found] = (struct proc1){p->pid, used};
    if (found < room && v2) v2[found] = (struct proc2){p->pid, used, p->gi < 0 ? ~0u : (u32)p->gi + 1, p->gi < 0 ? ~0u : 0};
    found++;
  }
  pthread_mutex_unlock(&lock);
  *n = found;
  return found > room || (found && !v1 && !v2) ? SMALL : OK;
}
#define LISTS(kind, type) \
  API ret nvmlDeviceGet##kind##RunningProcesses(handle h, u32 *n, struct proc1 *p) { return processes(__func__, h, type, n, p, NULL); } \
  API ret nvmlDeviceGet##kind##RunningProcesses_v2(handle h, u32 *n, struct proc2 *p) { return processes(__func__, h, type, n, NULL, p); } \
  API ret nvmlDeviceGet##kind##RunningProcesses_v3(handle h, u32 *n, struct proc2 *p) { return processes(__func__, h, type, n, NULL, p); }
LISTS(Compute, 'C')
LISTS(Graphics, 'G')
LISTS(MPSCompute, 'M')

struct used { u32 pid; u64 at; u32 sm, mem, enc, dec; };
struct used1 { u64 at; u32 pid, sm, mem, enc, dec, jpeg, flow; };
struct allused { u32 version, n; u64 since; struct used1 *u; };
// Only processes that did something are told; nobody is NOT_FOUND.
static ret busy(const char *call, handle h, u32 *n, struct used *old, struct used1 *new) {
  struct gpu g; ret r = device(call, h, &g);
  if (r) return r;
  if (g.mig || SLICEOF(h) >= 0) return NOSUP;
  u32 room = *n, found = 0;
  pthread_mutex_lock(&lock);
  struct timespec t; clock_gettime(CLOCK_REALTIME, &t);
  u64 at = t.tv_sec * 1000000ULL + t.tv_nsec / 1000;
  for (int i = 0; i < S.procs; i++) {
    struct proc *p = &S.proc[i];
    if (p->gpu != GPUOF(h) || p->sm <= 0) continue;
    if (old && found < room) old[found] = (struct used){p->pid, at, p->sm, p->sm / 2, 0, 0};
    if (new && found < room) new[found] = (struct used1){at, p->pid, p->sm, p->sm / 2, 0, 0, 0, 0};
    found++;
  }
  pthread_mutex_unlock(&lock);
  *n = found;
  return !found ? NOTFOUND : found > room || (!old && !new) ? SMALL : OK;
}
API ret nvmlDeviceGetProcessUtilization(handle h, struct used *u, u32 *n, u64 since) { (void)since; return busy(__func__, h, n, u, NULL); }
API ret nvmlDeviceGetProcessesUtilizationInfo(handle h, struct allused *a) {
  if (a->version != (sizeof *a | 1 << 24)) return VERSION;
  return busy(__func__, h, &a->n, NULL, a->u);
}

// ---- profile: two samples and what happened between them
struct support { u32 version, yes; };
struct profiled { handle device; double at; };
struct metric { u32 id; ret r; double v; const char *names[3]; };
struct metrics { u32 version, n; struct profiled *a, *b; struct metric m[]; };
API ret nvmlGpmQueryDeviceSupport(handle h, struct support *s) { DEVICE(h) s->yes = !isnan(g.v[SMACTIVE]); return OK; }
API ret nvmlGpmSampleAlloc(struct profiled **s) { SYSTEM(); *s = calloc(1, sizeof **s); return OK; }
API ret nvmlGpmSampleFree(struct profiled *s) { free(s); return OK; }
API ret nvmlGpmSampleGet(handle h, struct profiled *s) { WHOLE(h) if (isnan(g.v[SMACTIVE])) return NOSUP; *s = (struct profiled){h, now()}; return OK; }
API ret nvmlGpmMigSampleGet(handle h, u32 gi, struct profiled *s) { (void)gi; WHOLE(h) if (isnan(g.v[SMACTIVE])) return NOSUP; *s = (struct profiled){h, now()}; return OK; }
API ret nvmlGpmMetricsGet(struct metrics *m) {
  static const int keys[] = {[1] = UTIL, [2] = SMACTIVE, [3] = OCCUPANCY, [5] = TENSOR, [10] = DRAM};
  if (m->version != 1) return VERSION;
  if (!m->a->device || !m->b->device || m->a->at >= m->b->at) return INVALID;
  DEVICE(m->b->device)
  for (u32 i = 0; i < m->n; i++) {
    u32 id = m->m[i].id;
    int key = id < sizeof keys / sizeof *keys ? keys[id] : 0;
    m->m[i].r = (!key && id != 1) || isnan(g.v[key]) ? NOSUP : OK;
    if (!m->m[i].r) m->m[i].v = g.v[key];
  }
  return OK;
}

// ---- events
struct event { handle device; u64 type, data; u32 gi, ci; };
API ret nvmlEventSetCreate(handle *set) { SYSTEM(); *set = (handle)1; return OK; }
API ret nvmlEventSetFree(handle set) { (void)set; return OK; }
API ret nvmlDeviceRegisterEvents(handle h, u64 types, handle set) { (void)types; (void)set; DEVICE(h) return OK; }
API ret nvmlEventSetWait_v2(handle set, struct event *e, u32 ms) {
  (void)set;
  for (double end = now() + ms / 1000.0;; usleep(50000)) {
    ret r = enter(__func__, -1);
    if (r) return r;
    pthread_mutex_lock(&lock);
    int have = told < S.xids, i = told;
    if (have) told++;
    pthread_mutex_unlock(&lock);
    if (have) { *e = (struct event){(handle)(size_t)(S.xid[i].gpu + 1), 8, (u64)S.xid[i].code, ~0u, ~0u}; return OK; }
    if (now() >= end) return 10;
  }
}
API ret nvmlEventSetWait(handle set, struct event *e, u32 ms) { return nvmlEventSetWait_v2(set, e, ms); }
