/* A library that opens through libc and renames by hand. */
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef PADDING
/* Code that is not run, so that what follows lies a few pages further on. */
__asm__(".section .text\n.space 8192\n");
#endif

int touch(const char *path) {
    int fd = open(path, O_WRONLY | O_CREAT, 0644);
    return fd < 0 ? -1 : close(fd);
}

int rename_by_hand(const char *from, const char *to) {
#if defined(__x86_64__)
    long result;
    register long fourth __asm__("r10") = (long)to;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "0"((long)SYS_renameat), "D"((long)AT_FDCWD), "S"(from), "d"((long)AT_FDCWD), "r"(fourth)
                     : "rcx", "r11", "memory");
    return (int)result;
#else
    register long number __asm__("x8") = SYS_renameat;
    register long result __asm__("x0") = AT_FDCWD;
    register const char *second __asm__("x1") = from;
    register long third __asm__("x2") = AT_FDCWD;
    register const char *fourth __asm__("x3") = to;
    __asm__ volatile("svc #0" : "+r"(result) : "r"(number), "r"(second), "r"(third), "r"(fourth) : "memory");
    return (int)result;
#endif
}
