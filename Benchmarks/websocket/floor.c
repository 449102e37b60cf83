/* The upper bound for any server on one core: an echo of WebSocket frames with one read and one write per event.
 *
 *     cc -O2 -o floor floor.c && ./floor PORT
 *
 * Not a complete server: it does not validate its input, expects complete frames of up to 64 KiB in each read, and accepts
 * only the handshake of `sioload.cpp`.
 */
#define _GNU_SOURCE /* accept4 */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { descriptors = 20000, events = 64 };

static const char handshake[] = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                                "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n";
static char is_open[descriptors], input[1 << 16], output[1 << 17];

/* Unmasks the frames of the input into the output, and returns the length of the output. */
static size_t echo(size_t count) {
    const char *from = input, *end = input + count;
    char *to = output;
    while (from + 6 <= end) {
        size_t length = from[1] & 127;
        *to++ = *from;
        if (length < 126) {
            *to++ = (char)length;
            from += 2;
        } else {
            length = (size_t)(uint8_t)from[2] << 8 | (uint8_t)from[3];
            *to++ = 126;
            *to++ = from[2];
            *to++ = from[3];
            from += 4;
        }
        uint32_t key;
        memcpy(&key, from, 4);
        from += 4;
        if (length > (size_t)(end - from)) break;
        uint64_t twice = key | (uint64_t)key << 32, word;
        size_t done = 0;
        for (; done + 8 <= length; done += 8) {
            memcpy(&word, from + done, 8);
            word ^= twice;
            memcpy(to + done, &word, 8);
        }
        for (; done < length; done++) to[done] = from[done] ^ ((char *)&twice)[done & 7];
        from += length;
        to += length;
    }
    return (size_t)(to - output);
}

int main(int count, char **arguments) {
    if (count != 2) return 64;
    int listener = socket(AF_INET, SOCK_STREAM, 0), one = 1, poll = epoll_create1(0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(arguments[1])), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, 4096)) return 1;
    struct epoll_event event = {.events = EPOLLIN, .data.fd = listener}, ready[events];
    epoll_ctl(poll, EPOLL_CTL_ADD, listener, &event);
    for (;;) {
        int number = epoll_wait(poll, ready, events, -1);
        for (int index = 0; index < number; index++) {
            int peer = ready[index].data.fd;
            if (peer == listener) {
                peer = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
                if (peer < 0 || peer >= descriptors) return 1;
                setsockopt(peer, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
                is_open[peer] = 0;
                event.data.fd = peer;
                epoll_ctl(poll, EPOLL_CTL_ADD, peer, &event);
                continue;
            }
            ssize_t length = read(peer, input, sizeof input);
            if (length <= 0) {
                close(peer);
            } else if (is_open[peer]) {
                size_t bytes = echo((size_t)length);
                if (write(peer, output, bytes) != (ssize_t)bytes) close(peer);
            } else {
                is_open[peer] = 1;
                if (write(peer, handshake, sizeof handshake - 1) < 0) close(peer);
            }
        }
    }
}
