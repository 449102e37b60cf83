// Makes each sync to disk take longer, by SYNC_DELAY_MICROSECONDS: the time of a slower disk.
// Preloaded into the server by `run`.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

static void delay(void) {
    const char *text = getenv("SYNC_DELAY_MICROSECONDS");
    if (text) usleep(atoi(text));
}

int fdatasync(int file) {
    static int (*original)(int);
    if (!original) original = dlsym(RTLD_NEXT, "fdatasync");
    int result = original(file);
    delay();
    return result;
}

int fsync(int file) {
    static int (*original)(int);
    if (!original) original = dlsym(RTLD_NEXT, "fsync");
    int result = original(file);
    delay();
    return result;
}
