/* The parts of the overlay and what they know of each other.
 *
 * A program under this library sees one tree of files that is made of two:
 * the original one, which is only read, and the overlay, a folder that holds
 * what was written instead. A path is looked up in the overlay first:
 *
 *   ROOT/a/b                 the written version of /a/b
 *   ROOT/.plimsoll-gone/a/b  a file: the original /a/b, and all below, is gone
 *
 * Nothing here calls malloc but the listing of directories, because children
 * of a fork may call any of it.
 */
#ifndef PLIMSOLL_OVERLAY_H
#define PLIMSOLL_OVERLAY_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

_Static_assert(sizeof(off_t) == 8, "only 64-bit systems, where stat and stat64 are one");

/* config.c */
bool ov_on(void);                       /* set up and asked to do something */
bool ov_allowed(const char *path);      /* the path is on the list of what is left alone */
extern char ov_root[PATH_MAX];          /* no slash at its end */
extern size_t ov_root_length;
extern char ov_log[PATH_MAX];
extern int64_t ov_copy_limit;           /* bytes; larger originals are not copied */
void *ov_next(const char *name);        /* the function that ours stands before */

/* NEXT(fopen) is libc's fopen. */
#define NEXT(name)                                                              \
    ({                                                                          \
        static __typeof__(&name) found;                                         \
        if (!found) found = (__typeof__(&name))ov_next(#name);                  \
        found;                                                                  \
    })

/* shared.c: what all processes of one capture know */
bool ov_dirty(void);                    /* anything was written yet */
void ov_touch(void);                    /* something is about to be written */
void ov_restructure(void);              /* directories, links or deletions changed */
unsigned ov_generation(void);

/* text.c */
bool ov_join(char *out, size_t size, const char *a, const char *b);
bool ov_under(const char *path, const char *dir); /* equal to dir or below it */
bool ov_upper_path(char *out, const char *path);  /* where the overlay keeps a path */
bool ov_gone_path(char *out, const char *path);   /* where it notes that it is gone */
void ov_parent(char *path);                       /* cuts the last name off */

#define OV_GONE "/.plimsoll-gone"
#define OV_WORK "/.plimsoll-work"
/* A link in the overlay that begins like this stands for an original file. */
#define OV_LENT "/.plimsoll-original"

/* place.c */
typedef struct place {
    char path[PATH_MAX]; /* as the program sees it: absolute, no links, no dots */
    char real[PATH_MAX]; /* where it lies */
    mode_t type;         /* S_IFREG and so on, 0 when nothing is there */
    bool upper;          /* the overlay holds something of this name */
    bool lower;          /* an original is there and not gone */
    bool lent;           /* what the overlay holds stands for the original real */
    bool outside;        /* on the list of what is left alone */
    bool plain;          /* the arguments as given name the same file */
    bool gone;           /* nothing is there because it was deleted */
    bool slash;          /* the path ended in a slash */
} place;

/* ov_find looks a path up and returns 0 or an errno. A missing last name is
 * no error: type is 0 then. */
int ov_find(int dirfd, const char *path, bool follow, place *p);
/* ov_find_any does not mind a slash behind what is no directory; where
 * something is made or deleted a slash does not make it follow a link. */
int ov_find_any(int dirfd, const char *path, bool follow, place *p);
/* ov_seen replaces the arguments of a call that only reads. It returns 0 or
 * an errno. */
int ov_seen(int *dirfd, const char **path, bool follow, place *p);
/* ov_look looks up p->path, which has no links but perhaps the last name. */
int ov_look(place *p);
/* ov_where gives the path that a descriptor was opened by. */
int ov_where(int fd, char *out);
/* ov_visible turns a real path into the one that the program sees. */
void ov_visible(char *path);

/* write.c: 0 or an errno each */
int ov_make_parents(const char *path);
int ov_copy(place *p, bool contents);   /* the original comes into the overlay */
int ov_lend(const char *original, const char *path);
int ov_hide(const char *path);          /* the original is gone */
int ov_may_change(const char *path);    /* entries of its directory may change */
int ov_work_name(char *out);            /* a fresh name in the work folder */
bool ov_writes(int flags);              /* opening with these may change a file */
/* ov_prepare readies a path for open with these flags. When that succeeds,
 * action is what to note, if anything. */
int ov_prepare(int dirfd, const char *path, int flags, place *p, const char **action);

/* raw.c: the code at address calls open; what it does past libc is caught */
void ov_caller(const void *address);

/* log.c */
void ov_note(const char *action, const char *path);

/* list.c */
int ov_empty(const char *path);         /* 0, ENOTEMPTY or another errno */
int ov_raise_tree(const char *path);    /* a directory and all below comes into the overlay, its files lent */

/* Sets errno and returns -1. */
static inline int ov_fail(int error) {
    errno = error;
    return -1;
}

/* A lookup for reading: true when the call can go on as it was made. */
static inline bool ov_untouched(void) { return !ov_on() || !ov_dirty(); }

#endif
