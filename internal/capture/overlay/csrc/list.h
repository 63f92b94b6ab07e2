/* What list.c has for opendir. */
#ifndef PLIMSOLL_OVERLAY_LIST_H
#define PLIMSOLL_OVERLAY_LIST_H

#include "overlay.h"

/* Entries of a directory, one behind the other, without "." and "..". */
typedef struct listing {
    char *data;
    size_t size, room; /* bytes */
} listing;

int list_read(listing *l, const char *path);
void list_free(listing *l);
/* list_differs says whether libc's own list of a directory would be wrong. */
bool list_differs(const place *p);

#endif
