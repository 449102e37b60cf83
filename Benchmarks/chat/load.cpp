// Loads a chat server by one thread: each connection signs in with a token of its own, says hello,
// and keeps a number of `send`s unanswered. Prints the answers a second, which come after the sync
// to disk, and their times. Benchmarks/chat/run builds and runs it.
//
//     load PORT FILE CONNECTIONS IN_FLIGHT BYTES SECONDS PID [EVERY [UNDER_WAY]]
//
// FILE has a token and a conversation on each line. Only every EVERY-th connection sends; the
// others receive. PID is that of the server, whose processor time and memory are printed.
// UNDER_WAY is the number of connections that are opened at the same time: 50 by default.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fstream>
#include <numeric>
#include <random>
#include <string>
#include <vector>

using Nanoseconds = uint64_t;

static Nanoseconds now() {
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000ull + time.tv_nsec;
}

// The processor time of a process, in seconds.
static double processorTime(int pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
    std::string text((std::istreambuf_iterator<char>(file)), {});
    size_t end = text.rfind(')');
    if (end == std::string::npos) return 0;
    unsigned long user = 0, system = 0;
    sscanf(text.c_str() + end + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &system);
    return double(user + system) / sysconf(_SC_CLK_TCK);
}

static long residentKilobytes(int pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/status");
    for (std::string line; std::getline(file, line);)
        if (line.rfind("VmRSS:", 0) == 0) return atol(line.c_str() + 6);
    return 0;
}

// A WebSocket connection in the namespace /chat.
struct Connection {
    enum Stage { upgrading, opening, joining, greeting, ready, closed };
    int socket = -1;
    Stage stage = upgrading;
    bool wantsWrite = false;
    std::string in, out, token, conversation;
    size_t read = 0;
    std::deque<Nanoseconds> sent;
    uint64_t lastID = 0;
};

struct Load {
    int port, inFlight, every, poll = epoll_create1(0);
    std::string text;
    // The difference between the time of day and the clock of `now`, in milliseconds.
    Nanoseconds timeOffset = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch()).count() - now() / 1000000;
    std::vector<Connection> connections;
    std::vector<uint32_t> microseconds;
    int readyCount = 0, underWay = 0;
    uint64_t answers = 0, pushes = 0, refused = 0, errors = 0;
    bool sends = false, measures = false;

    void fail(const char *what, const std::string &detail) {
        fprintf(stderr, "%s: %s\n", what, detail.substr(0, 200).c_str());
        exit(1);
    }

    void write(Connection &connection, const std::string &payload, int opcode = 1) {
        static const unsigned char mask[4] = {0x37, 0xfa, 0x21, 0x3d};
        std::string &out = connection.out;
        out.push_back(char(0x80 | opcode));
        if (payload.size() < 126) {
            out.push_back(char(0x80 | payload.size()));
        } else {
            out.push_back(char(0x80 | 126));
            out.push_back(char(payload.size() >> 8));
            out.push_back(char(payload.size() & 255));
        }
        out.append(reinterpret_cast<const char *>(mask), 4);
        size_t begin = out.size();
        out += payload;
        for (size_t i = 0; i < payload.size(); i++) out[begin + i] ^= mask[i & 3];
    }

    void send(Connection &connection) {
        std::string id = std::to_string(connection.lastID++);
        Nanoseconds time = now();
        connection.sent.push_back(time);
        // Ordered by time, like those of the clients (RFC 9562, version 7).
        char clientID[64];
        snprintf(clientID, sizeof clientID, "%012llx-%zu-%s", (unsigned long long)(timeOffset + time / 1000000), &connection - &connections[0], id.c_str());
        write(connection, "42/chat," + id + "[\"send\",{\"conv\":\"" + connection.conversation + "\",\"id\":\"" + clientID + "\",\"kind\":\"text\",\"body\":{\"text\":\"" + text + "\"}}]");
    }

    void watch(Connection &connection, bool wantsWrite, int operation = EPOLL_CTL_MOD) {
        if (operation == EPOLL_CTL_MOD && connection.wantsWrite == wantsWrite) return;
        connection.wantsWrite = wantsWrite;
        epoll_event event{};
        event.events = EPOLLIN | (wantsWrite ? unsigned(EPOLLOUT) : 0u);
        event.data.u32 = &connection - &connections[0];
        epoll_ctl(poll, operation, connection.socket, &event);
    }

    void close(Connection &connection) {
        errors++;
        ::close(connection.socket);
        connection.socket = -1;
        if (connection.stage != Connection::ready) underWay--;
        connection.stage = Connection::closed;
    }

    void flush(Connection &connection) {
        while (!connection.out.empty()) {
            ssize_t count = ::send(connection.socket, connection.out.data(), connection.out.size(), MSG_NOSIGNAL);
            if (count < 0 && errno == EAGAIN) return watch(connection, true);
            if (count < 0) return close(connection);
            connection.out.erase(0, count);
        }
        watch(connection, false);
    }

    void start(Connection &connection) {
        connection.socket = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
        int on = 1;
        setsockopt(connection.socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(port);
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        if (connect(connection.socket, reinterpret_cast<sockaddr *>(&address), sizeof address) < 0 && errno != EINPROGRESS)
            fail("connect", strerror(errno));
        connection.out = "GET /socket.io/?EIO=4&transport=websocket HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port)
            + "\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
              "Sec-WebSocket-Version: 13\r\n\r\n";
        underWay++;
        watch(connection, true, EPOLL_CTL_ADD);
    }

    void received(Connection &connection, int opcode, const std::string &message) {
        auto begins = [&](const char *prefix) { return message.rfind(prefix, 0) == 0; };
        if (opcode == 9) return write(connection, message, 10);
        if (opcode == 8) return void(errors++);
        if (message == "2") return write(connection, "3");
        switch (connection.stage) {
        case Connection::opening:
            if (!begins("0")) return;
            connection.stage = Connection::joining;
            return write(connection, "40/chat,{\"token\":\"" + connection.token + "\"}");
        case Connection::joining:
            if (begins("44")) fail("refused", message);
            if (!begins("40/chat")) return;
            connection.stage = Connection::greeting;
            return write(connection, "42/chat,0[\"hello\",{\"version\":1,\"device\":{\"name\":\"Load\",\"platform\":\"test\"},\"sync\":{}}]");
        case Connection::greeting:
            if (!begins("43/chat,0[")) return;
            if (message.find("\"error\"") < 20) fail("refused", message);
            connection.stage = Connection::ready;
            readyCount++;
            underWay--;
            return;
        case Connection::ready:
            if (begins("42/chat,[\"event\"")) {
                // One push has all new events of a conversation.
                for (size_t at = 0; (at = message.find("{\"conv\":", at)) != std::string::npos; at++) pushes++;
            } else if (begins("43/chat,")) {
                if (message.find("\"seq\":") == std::string::npos && refused++ < 3) fprintf(stderr, "not stored: %s\n", message.c_str());
                if (connection.sent.empty()) return;
                Nanoseconds began = connection.sent.front();
                connection.sent.pop_front();
                answers++;
                if (measures) microseconds.push_back((now() - began) / 1000);
                if (sends) send(connection);
            }
            return;
        default: return;
        }
    }

    void readable(Connection &connection) {
        char buffer[65536];
        for (int turn = 0; turn < 4; turn++) {
            ssize_t count = recv(connection.socket, buffer, sizeof buffer, 0);
            if (count == 0 || (count < 0 && errno != EAGAIN)) return close(connection);
            if (count < 0) break;
            connection.in.append(buffer, count);
            if (count < ssize_t(sizeof buffer)) break;
        }
        if (connection.stage == Connection::upgrading) {
            size_t end = connection.in.find("\r\n\r\n");
            if (end == std::string::npos) return;
            if (connection.in.compare(0, 12, "HTTP/1.1 101") != 0) fail("not upgraded", connection.in);
            connection.read = end + 4;
            connection.stage = Connection::opening;
        }
        while (true) {
            const unsigned char *bytes = reinterpret_cast<const unsigned char *>(connection.in.data()) + connection.read;
            size_t available = connection.in.size() - connection.read, header = 2;
            if (available < 2) break;
            uint64_t length = bytes[1] & 127;
            if (length >= 126) header = length == 126 ? 4 : 10;
            if (available < header) break;
            if (header > 2) {
                length = 0;
                for (size_t i = 2; i < header; i++) length = length << 8 | bytes[i];
            }
            if (available < header + length) break;
            received(connection, bytes[0] & 15, connection.in.substr(connection.read + header, length));
            connection.read += header + length;
        }
        connection.in.erase(0, connection.read);
        connection.read = 0;
        if (!connection.out.empty()) flush(connection);
    }

    void run(double seconds) {
        Nanoseconds end = now() + Nanoseconds(seconds * 1e9);
        while (now() < end) turn(50);
    }

    void turn(int milliseconds) {
        epoll_event events[512];
        int count = epoll_wait(poll, events, 512, milliseconds);
        for (int i = 0; i < count; i++) {
            Connection &connection = connections[events[i].data.u32];
            if (connection.socket >= 0 && events[i].events & EPOLLOUT) flush(connection);
            if (connection.socket >= 0 && events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) readable(connection);
        }
    }
};

int main(int count, char **arguments) {
    if (count < 8) return fprintf(stderr, "load PORT FILE CONNECTIONS IN_FLIGHT BYTES SECONDS PID [EVERY [UNDER_WAY]]\n"), 2;
    Load load;
    load.port = atoi(arguments[1]);
    size_t wanted = atoi(arguments[3]);
    load.inFlight = atoi(arguments[4]);
    load.text = std::string(atoi(arguments[5]), 'x');
    double seconds = atof(arguments[6]);
    int pid = atoi(arguments[7]);
    load.every = count > 8 ? atoi(arguments[8]) : 1;
    int underWay = count > 9 ? atoi(arguments[9]) : 50;
    std::ifstream file(arguments[2]);
    for (Connection connection; load.connections.size() < wanted && file >> connection.token >> connection.conversation;)
        load.connections.push_back(connection);
    if (load.connections.size() < wanted) return fprintf(stderr, "the file has too few lines\n"), 1;

    // Random, so that the threads of the server have equally many connections that send.
    std::vector<size_t> order(wanted);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), std::mt19937(1));
    Nanoseconds begin = now();
    size_t started = 0;
    while (load.readyCount < int(wanted) && now() < begin + 60000000000ull) {
        while (started < wanted && load.underWay < underWay) load.start(load.connections[order[started++]]);
        load.turn(100);
    }
    double setUp = (now() - begin) / 1e9;
    load.run(0.3);
    load.sends = true;
    if (load.inFlight > 0)
        for (size_t i = 0; i < wanted; i += load.every) {
            for (int j = 0; j < load.inFlight; j++) load.send(load.connections[i]);
            load.flush(load.connections[i]);
        }
    load.run(1);
    load.measures = true;
    uint64_t answers = load.answers, pushes = load.pushes;
    double processor = processorTime(pid), own = processorTime(getpid());
    begin = now();
    load.run(seconds);
    double elapsed = (now() - begin) / 1e9;
    processor = processorTime(pid) - processor;
    own = processorTime(getpid()) - own;
    std::vector<uint32_t> &times = load.microseconds;
    std::sort(times.begin(), times.end());
    auto quantile = [&](double share) { return times.empty() ? 0.0 : times[std::min(times.size() - 1, size_t(times.size() * share))] / 1e3; };
    printf("connections %d in %.2f s; %.0f sends/s, p50 %.2f ms, p99 %.2f ms, most %.1f ms; %.0f events/s received; server %.0f %% of a core, "
           "%ld MB; load %.0f %%; refused %llu, errors %llu\n",
        load.readyCount, setUp, (load.answers - answers) / elapsed, quantile(.5), quantile(.99), quantile(1), (load.pushes - pushes) / elapsed,
        processor / elapsed * 100, residentKilobytes(pid) / 1024, own / elapsed * 100, (unsigned long long)load.refused, (unsigned long long)load.errors);
}
