/* System calls that a library makes by itself, past libc. Rust's rustix does
 * so, on which safetensors stands: it opens its temporary file through libc
 * and renames it by hand.
 *
 * When a library calls open for the first time, its code is searched for the
 * instruction that enters the kernel. If it has any, a seccomp filter turns
 * its calls about paths into signals, and the handler makes the call in the
 * overlay. The filter is bound to the addresses of that library, so that it
 * is of no consequence in programs that are started later. */
#include "overlay.h"

#include <link.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/statfs.h>
#include <ucontext.h>

#if defined(__x86_64__)
#define OWN_ARCH AUDIT_ARCH_X86_64
static const unsigned char enter_kernel[] = {0x0f, 0x05};
enum { STEP = 1 };
#elif defined(__aarch64__)
#define OWN_ARCH AUDIT_ARCH_AARCH64
static const unsigned char enter_kernel[] = {0x01, 0x00, 0x00, 0xd4};
enum { STEP = 4 };
#endif

#ifdef OWN_ARCH

typedef long call(const long *a);

#define PATH(n) ((const char *)a[n])

#ifdef SYS_open
static long call_open(const long *a) { return open(PATH(0), (int)a[1], (mode_t)a[2]); }
static long call_creat(const long *a) { return creat(PATH(0), (mode_t)a[1]); }
static long call_stat(const long *a) { return stat(PATH(0), (struct stat *)a[1]); }
static long call_lstat(const long *a) { return lstat(PATH(0), (struct stat *)a[1]); }
static long call_access(const long *a) { return access(PATH(0), (int)a[1]); }
static long call_mkdir(const long *a) { return mkdir(PATH(0), (mode_t)a[1]); }
static long call_rmdir(const long *a) { return rmdir(PATH(0)); }
static long call_unlink(const long *a) { return unlink(PATH(0)); }
static long call_rename(const long *a) { return rename(PATH(0), PATH(1)); }
static long call_link(const long *a) { return link(PATH(0), PATH(1)); }
static long call_symlink(const long *a) { return symlink(PATH(0), PATH(1)); }
static long call_readlink(const long *a) { return readlink(PATH(0), (char *)a[1], (size_t)a[2]); }
static long call_chmod(const long *a) { return chmod(PATH(0), (mode_t)a[1]); }
static long call_chown(const long *a) { return chown(PATH(0), (uid_t)a[1], (gid_t)a[2]); }
static long call_lchown(const long *a) { return lchown(PATH(0), (uid_t)a[1], (gid_t)a[2]); }
static long call_mknod(const long *a) { return mknod(PATH(0), (mode_t)a[1], (dev_t)a[2]); }
#endif
static long call_openat(const long *a) { return openat((int)a[0], PATH(1), (int)a[2], (mode_t)a[3]); }
static long call_newfstatat(const long *a) { return fstatat((int)a[0], PATH(1), (struct stat *)a[2], (int)a[3]); }
static long call_statx(const long *a) {
    return statx((int)a[0], PATH(1), (int)a[2], (unsigned)a[3], (struct statx *)a[4]);
}
static long call_faccessat(const long *a) { return faccessat((int)a[0], PATH(1), (int)a[2], 0); }
static long call_faccessat2(const long *a) { return faccessat((int)a[0], PATH(1), (int)a[2], (int)a[3]); }
static long call_mkdirat(const long *a) { return mkdirat((int)a[0], PATH(1), (mode_t)a[2]); }
static long call_unlinkat(const long *a) { return unlinkat((int)a[0], PATH(1), (int)a[2]); }
static long call_renameat(const long *a) { return renameat((int)a[0], PATH(1), (int)a[2], PATH(3)); }
static long call_renameat2(const long *a) { return renameat2((int)a[0], PATH(1), (int)a[2], PATH(3), (unsigned)a[4]); }
static long call_linkat(const long *a) { return linkat((int)a[0], PATH(1), (int)a[2], PATH(3), (int)a[4]); }
static long call_symlinkat(const long *a) { return symlinkat(PATH(0), (int)a[1], PATH(2)); }
static long call_readlinkat(const long *a) { return readlinkat((int)a[0], PATH(1), (char *)a[2], (size_t)a[3]); }
static long call_truncate(const long *a) { return truncate(PATH(0), a[1]); }
static long call_fchmod(const long *a) { return fchmod((int)a[0], (mode_t)a[1]); }
static long call_fchmodat(const long *a) { return fchmodat((int)a[0], PATH(1), (mode_t)a[2], 0); }
static long call_fchown(const long *a) { return fchown((int)a[0], (uid_t)a[1], (gid_t)a[2]); }
static long call_fchownat(const long *a) { return fchownat((int)a[0], PATH(1), (uid_t)a[2], (gid_t)a[3], (int)a[4]); }
static long call_utimensat(const long *a) {
    const struct timespec *times = (const struct timespec *)a[2];
    return PATH(1) ? utimensat((int)a[0], PATH(1), times, (int)a[3]) : futimens((int)a[0], times);
}
static long call_mknodat(const long *a) { return mknodat((int)a[0], PATH(1), (mode_t)a[2], (dev_t)a[3]); }
static long call_chdir(const long *a) { return chdir(PATH(0)); }
static long call_statfs(const long *a) { return statfs(PATH(0), (struct statfs *)a[1]); }

/* CALL(openat) is the row of a system call. */
#define CALL(name) {SYS_##name, call_##name}

static const struct {
    long number;
    call *run;
} calls[] = {
#ifdef SYS_open
    CALL(open), CALL(creat), CALL(stat), CALL(lstat), CALL(access), CALL(mkdir), CALL(rmdir), CALL(unlink),
    CALL(rename), CALL(link), CALL(symlink), CALL(readlink), CALL(chmod), CALL(chown), CALL(lchown), CALL(mknod),
#endif
    CALL(openat), CALL(newfstatat), CALL(statx), CALL(faccessat), CALL(mkdirat), CALL(unlinkat), CALL(renameat),
    CALL(renameat2), CALL(linkat), CALL(symlinkat), CALL(readlinkat), CALL(truncate), CALL(fchmod), CALL(fchmodat),
    CALL(fchown), CALL(fchownat), CALL(utimensat), CALL(mknodat), CALL(chdir), CALL(statfs),
#ifdef SYS_faccessat2
    CALL(faccessat2),
#endif
};

enum { CALLS = sizeof calls / sizeof *calls };

/* answer makes the call that was trapped. */
static void answer(int signal, siginfo_t *info, void *context) {
    (void)signal;
    int saved = errno;
    ucontext_t *c = context;
#if defined(__x86_64__)
    greg_t *r = c->uc_mcontext.gregs;
    const long a[] = {r[REG_RDI], r[REG_RSI], r[REG_RDX], r[REG_R10], r[REG_R8], r[REG_R9]};
    greg_t *result = &r[REG_RAX];
#else
    const long a[] = {(long)c->uc_mcontext.regs[0], (long)c->uc_mcontext.regs[1], (long)c->uc_mcontext.regs[2],
                      (long)c->uc_mcontext.regs[3], (long)c->uc_mcontext.regs[4], (long)c->uc_mcontext.regs[5]};
    unsigned long long *result = &c->uc_mcontext.regs[0];
#endif
    long value = -1;
    errno = ENOSYS;
    for (int i = 0; i < CALLS; i++)
        if (calls[i].number == info->si_syscall) value = calls[i].run(a);
    *result = value == -1 ? -errno : value;
    errno = saved;
}

/* filter binds the trap to the addresses from begin to end. A filter compares
 * 32 bits at a time, so code that lies across a multiple of 4 GiB takes two. */
static bool filter(uintptr_t begin, uintptr_t end) {
    uintptr_t border = (end - 1) >> 32 << 32;
    if (begin < border) return filter(begin, border) && filter(border, end);
    struct sock_filter program[CALLS + 10];
    unsigned short n = 0;
#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned)offsetof(struct seccomp_data, field))
    /* The jumps that leave go to the last instruction but one. */
#define LEAVE (unsigned char)(CALLS + 9 - 2 - n)
    program[n++] = (struct sock_filter)LOAD(arch);
    program[n] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OWN_ARCH, 0, LEAVE);
    n++;
    program[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned)offsetof(struct seccomp_data, instruction_pointer) + 4);
    program[n] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)(begin >> 32), 0, LEAVE);
    n++;
    program[n++] = (struct sock_filter)LOAD(instruction_pointer);
    program[n] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, (unsigned)begin, 0, LEAVE);
    n++;
    program[n] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, (unsigned)(end - 1), LEAVE, 0);
    n++;
    program[n++] = (struct sock_filter)LOAD(nr);
    for (int i = 0; i < CALLS; i++) {
        program[n] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)calls[i].number, (unsigned char)(CALLS - i), 0);
        n++;
    }
    program[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    program[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP);
    struct sock_fprog all = {n, program};
    struct sigaction act = {.sa_sigaction = answer, .sa_flags = SA_SIGINFO | SA_NODEFER | SA_RESTART};
    if (sigaction(SIGSYS, &act, NULL) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) return false;
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &all) == 0;
}

/* A stretch of code that was looked at. */
typedef struct code {
    uintptr_t begin, end;
    const char *library;
} code;

enum { MAX_CODE = 512, MAX_FILTERS = 24, LARGE = 64 << 20 };

static code seen[MAX_CODE];
static atomic_int seen_count, filters;
static atomic_flag looking;

static bool known(uintptr_t at) {
    int n = atomic_load_explicit(&seen_count, memory_order_acquire);
    for (int i = n - 1; i >= 0; i--)
        if (at >= seen[i].begin && at < seen[i].end) return true;
    return n >= MAX_CODE - 1;
}

/* find is called for each library; data is the code to be found, which has
 * the wanted address as begin and end. */
static int find(struct dl_phdr_info *info, size_t size, void *data) {
    (void)size;
    code *c = data;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *h = &info->dlpi_phdr[i];
        uintptr_t begin = info->dlpi_addr + h->p_vaddr, end = begin + h->p_memsz;
        if (h->p_type == PT_LOAD && h->p_flags & PF_X && h->p_flags & PF_R && c->begin >= begin && c->begin < end) {
            *c = (code){begin, end, info->dlpi_name};
            return 1;
        }
    }
    return 0;
}

static bool enters_kernel(code c) {
    if (c.end - c.begin > LARGE) return false;
    for (uintptr_t at = c.begin; at + sizeof enter_kernel <= c.end; at += STEP)
        if (!memcmp((const void *)at, enter_kernel, sizeof enter_kernel)) return true;
    return false;
}

/* is_libc says whether the code is libc's or our own, whose calls are either
 * replaced or meant. */
static bool is_ours(code c) {
    uintptr_t own = (uintptr_t)is_ours, libc = (uintptr_t)ov_next("abort"), libc2 = (uintptr_t)ov_next("syscall");
    return (own >= c.begin && own < c.end) || (libc >= c.begin && libc < c.end) || (libc2 >= c.begin && libc2 < c.end);
}

void ov_caller(const void *address) {
    uintptr_t at = (uintptr_t)address;
    if (known(at) || atomic_flag_test_and_set(&looking)) return;
    int saved = errno;
    code c = {at, at, NULL};
    if (dl_iterate_phdr(find, &c) && !known(at)) {
        int n = atomic_load(&seen_count);
        seen[n] = c;
        atomic_store_explicit(&seen_count, n + 1, memory_order_release);
        if (!is_ours(c) && enters_kernel(c)) {
            if (atomic_load(&filters) < MAX_FILTERS && filter(c.begin, c.end)) atomic_fetch_add(&filters, 1);
            else ov_note("uncaught", c.library && *c.library ? c.library : "the program itself");
        }
    }
    atomic_flag_clear(&looking);
    errno = saved;
}

#else

void ov_caller(const void *address) { (void)address; }

#endif
