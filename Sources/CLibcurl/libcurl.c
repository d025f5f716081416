// For `SOCK_CLOEXEC`.
#define _GNU_SOURCE

#include "CLibcurl.h"

#if defined(__linux__)

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/// The oldest version that has all functions and options called here: 7.68.0.
#define OLDEST_VERSION 0x074400

/// The oldest version whose multi handles have no descriptors that child processes inherit: 8.8.0.
#define FIRST_PRIVATE_VERSION 0x080800

enum { CURLVERSION_FIRST = 0, CURL_GLOBAL_ALL = 3, CURLMSG_DONE = 1, CURLSSLBACKEND_OPENSSL = 1 };
enum { CURLSHOPT_SHARE = 1, CURL_LOCK_DATA_SSL_SESSION = 4 };

/// The beginning of `curl_version_info_data`.
struct version_info {
    int age;
    const char *version;
    unsigned int version_num;
};

/// `CURLMsg`.
struct message {
    int kind;
    libcurl_easy handle;
    union {
        void *whatever;
        int result;
    } data;
};

/// `curl_tlssessioninfo`.
struct tls_session {
    int backend;
    const void *internals;
};

/// `curl_header`.
struct header {
    char *name;
    char *value;
    size_t amount;
    size_t index;
    unsigned int origin;
    void *anchor;
};

/// `curl_sockaddr`.
struct address {
    int family;
    int kind;
    int protocol;
    unsigned int size;
    struct sockaddr address;
};

static struct {
    int (*global_init)(long);
    const struct version_info *(*version_info)(int);
    const char *(*easy_strerror)(int);
    libcurl_easy (*easy_init)(void);
    void (*easy_cleanup)(libcurl_easy);
    int (*easy_setopt)(libcurl_easy, int, ...);
    int (*easy_getinfo)(libcurl_easy, int, ...);
    int (*easy_pause)(libcurl_easy, int);
    libcurl_share (*share_init)(void);
    int (*share_cleanup)(libcurl_share);
    int (*share_setopt)(libcurl_share, int, ...);
    struct libcurl_slist *(*slist_append)(struct libcurl_slist *, const char *);
    void (*slist_free_all)(struct libcurl_slist *);
    libcurl_multi (*multi_init)(void);
    int (*multi_cleanup)(libcurl_multi);
    int (*multi_setopt)(libcurl_multi, int, ...);
    int (*multi_add_handle)(libcurl_multi, libcurl_easy);
    int (*multi_remove_handle)(libcurl_multi, libcurl_easy);
    int (*multi_socket_action)(libcurl_multi, int, int, int *);
    struct message *(*multi_info_read)(libcurl_multi, int *);
    int (*multi_wakeup)(libcurl_multi);

    /// OpenSSL's, if libcurl uses that.
    int (*ssl_pending)(const void *session);
    int (*ssl_get_shutdown)(const void *session);

    /// Available since 7.83.
    int (*easy_header)(libcurl_easy, const char *, size_t, unsigned int, int, struct header **);
} curl;

static uint32_t version;
static const char *failure;
static char description[256];

#define FUNCTIONS(X) \
    X(global_init) X(version_info) \
    X(easy_strerror) X(easy_init) X(easy_cleanup) X(easy_setopt) X(easy_getinfo) X(easy_pause) \
    X(share_init) X(share_cleanup) X(share_setopt) X(slist_append) X(slist_free_all) \
    X(multi_init) X(multi_cleanup) X(multi_setopt) X(multi_add_handle) X(multi_remove_handle) \
    X(multi_socket_action) X(multi_info_read) X(multi_wakeup)

// The functions of a libcurl that is linked into the program, statically or not; null if there is none.
#define DECLARE(name) __attribute__((weak)) void curl_##name(void);
FUNCTIONS(DECLARE)
DECLARE(easy_header)
__attribute__((weak)) void SSL_pending(void);
__attribute__((weak)) void SSL_get_shutdown(void);

#define NEEDED(name) {"curl_" #name, curl_##name, &curl.name, true},
static const struct {
    const char *name;
    void (*linked)(void);
    void *function;
    bool is_needed;
} functions[] = {
    FUNCTIONS(NEEDED)
    {"curl_easy_header", curl_easy_header, &curl.easy_header, false},
    // Also found in a library that libcurl needs.
    {"SSL_pending", SSL_pending, &curl.ssl_pending, false},
    {"SSL_get_shutdown", SSL_get_shutdown, &curl.ssl_get_shutdown, false},
};

enum { FUNCTION_COUNT = sizeof functions / sizeof *functions };

static bool is_linked(void) {
    for (int index = 0; index < FUNCTION_COUNT; index++) {
        if (functions[index].is_needed && !functions[index].linked) return false;
    }
    return true;
}

/// - Parameter library: null for the functions that are linked.
static bool look_up(void *library) {
    for (int index = 0; index < FUNCTION_COUNT; index++) {
        void *found = library ? dlsym(library, functions[index].name) : (void *)functions[index].linked;
        if (!found && functions[index].is_needed) {
            snprintf(
                description, sizeof description, "libcurl.so.4 has no function %s", functions[index].name);
            failure = description;
            return false;
        }
        *(void **)functions[index].function = found;
    }
    return true;
}

static void load(void) {
    void *library = NULL;
    if (!is_linked()) {
        library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
        if (!library) {
            const char *error = dlerror();
            snprintf(description, sizeof description, "libcurl.so.4 can't be opened: %s", error ? error : "no reason");
            failure = description;
            return;
        }
    }
    if (!look_up(library)) return;
    const struct version_info *info = curl.version_info(CURLVERSION_FIRST);
    if (info->version_num < OLDEST_VERSION) {
        snprintf(description, sizeof description, "libcurl.so.4 is version %s; 7.68 or later is needed", info->version);
        failure = description;
        return;
    }
    if (curl.global_init(CURL_GLOBAL_ALL) != CURLE_OK) {
        failure = "libcurl.so.4 can't be initialised";
        return;
    }
    libcurl_watch_exit();
    version = info->version_num;
}

uint32_t libcurl_load(const char **reason) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    *reason = failure;
    return version;
}

const char *libcurl_version(void) { return curl.version_info(CURLVERSION_FIRST)->version; }

const char *libcurl_strerror(int code) { return curl.easy_strerror(code); }

libcurl_easy libcurl_easy_create(void) { return curl.easy_init(); }

void libcurl_easy_destroy(libcurl_easy handle) { curl.easy_cleanup(handle); }

int libcurl_easy_set_long(libcurl_easy handle, int option, long value) {
    return curl.easy_setopt(handle, option, value);
}

int libcurl_easy_set_offset(libcurl_easy handle, int option, int64_t value) {
    return curl.easy_setopt(handle, option, value);
}

int libcurl_easy_set_pointer(libcurl_easy handle, int option, const void *value) {
    return curl.easy_setopt(handle, option, value);
}

int libcurl_easy_set_blob(libcurl_easy handle, int option, const void *data, size_t count) {
    enum { CURL_BLOB_COPY = 1 };
    struct libcurl_blob blob = {data, count, CURL_BLOB_COPY};
    return curl.easy_setopt(handle, option, &blob);
}

int libcurl_easy_set_transfer(
    libcurl_easy handle, int option, size_t (*function)(char *bytes, size_t size, size_t count, void *context)) {
    return curl.easy_setopt(handle, option, function);
}

int libcurl_easy_set_seek(libcurl_easy handle, int (*function)(void *context, int64_t offset, int origin)) {
    return curl.easy_setopt(handle, CURLOPT_SEEKFUNCTION, function);
}

int libcurl_easy_set_trailers(libcurl_easy handle, int (*function)(struct libcurl_slist **lines, void *context)) {
    return curl.easy_setopt(handle, CURLOPT_TRAILERFUNCTION, function);
}

int libcurl_easy_set_before_look_up(
    libcurl_easy handle, int (*function)(void *resolver, void *reserved, void *context)) {
    return curl.easy_setopt(handle, CURLOPT_RESOLVER_START_FUNCTION, function);
}

int libcurl_easy_set_before_sending(
    libcurl_easy handle,
    int (*function)(void *context, char *remote_ip, char *local_ip, int remote_port, int local_port)) {
    return curl.easy_setopt(handle, CURLOPT_PREREQFUNCTION, function);
}

int libcurl_easy_set_debug(
    libcurl_easy handle, int (*function)(libcurl_easy, int kind, char *text, size_t count, void *context)) {
    return curl.easy_setopt(handle, CURLOPT_DEBUGFUNCTION, function);
}

int libcurl_easy_http2_status(libcurl_easy handle) {
    enum { CURLH_PSEUDO = 1 << 4, LAST_REQUEST = -1 };
    struct header *status = NULL;
    bool is_known = curl.easy_header &&
        curl.easy_header(handle, ":status", 0, CURLH_PSEUDO, LAST_REQUEST, &status) == CURLE_OK && status;
    return is_known ? atoi(status->value) : 0;
}

static int open_socket(void *context, int purpose, struct address *address) {
    struct socket_source *source = context;
    int result = source->connected;
    source->connected = -1;
    if (result < 0) result = connection_socket(address->family, address->kind, address->protocol);
    if (result < 0) {
        source->error = errno;
    } else {
        poll_set_open(source->set, result);
    }
    return result;
}

int libcurl_easy_set_sockets(libcurl_easy handle, struct socket_source *source) {
    curl.easy_setopt(handle, CURLOPT_OPENSOCKETDATA, source);
    curl.easy_setopt(handle, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    curl.easy_setopt(handle, CURLOPT_CLOSESOCKETDATA, (void *)source->set);
    return curl.easy_setopt(handle, CURLOPT_CLOSESOCKETFUNCTION, poll_set_close);
}

int libcurl_easy_get(libcurl_easy handle, int info, void *value) { return curl.easy_getinfo(handle, info, value); }

/// Returns the TLS of the handle's connection; NULL if it has none, or none of OpenSSL.
static const void *openssl(libcurl_easy handle) {
    struct tls_session *session = NULL;
    bool is_known = curl.easy_getinfo(handle, CURLINFO_TLS_SSL_PTR, &session) == CURLE_OK && session &&
        session->backend == CURLSSLBACKEND_OPENSSL;
    return is_known ? session->internals : NULL;
}

bool libcurl_easy_has_decrypted(libcurl_easy handle) {
    const void *tls = curl.ssl_pending ? openssl(handle) : NULL;
    return tls && curl.ssl_pending(tls) > 0;
}

enum peer_state libcurl_easy_peer(libcurl_easy handle, int socket, bool is_secure) {
    enum { RECEIVED_SHUTDOWN = 2 };
    char byte;
    ssize_t count = recv(socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    if (count == 0 || (count < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)) return PEER_CLOSED;
    const void *tls = openssl(handle);
    if (!tls) return is_secure ? PEER_UNKNOWN : PEER_OPEN;
    if (!curl.ssl_get_shutdown) return PEER_UNKNOWN;
    return curl.ssl_get_shutdown(tls) & RECEIVED_SHUTDOWN ? PEER_CLOSED : PEER_OPEN;
}

int libcurl_easy_pause(libcurl_easy handle, int mask) { return curl.easy_pause(handle, mask); }

struct libcurl_slist *libcurl_slist_append(struct libcurl_slist *list, const char *line) {
    return curl.slist_append(list, line);
}

void libcurl_slist_free(struct libcurl_slist *list) { curl.slist_free_all(list); }

libcurl_share libcurl_share_create(void) {
    libcurl_share share = curl.share_init();
    if (share) curl.share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION);
    return share;
}

void libcurl_share_destroy(libcurl_share share) { curl.share_cleanup(share); }

/// The bytes that a descriptor has to read, and the memory that what it has sent takes until it is read; -1 for neither.
struct queues {
    int to_read;
    int sent;
};

static struct queues queues(int descriptor) {
    struct queues result = {-1, -1};
    ioctl(descriptor, FIONREAD, &result.to_read);
    ioctl(descriptor, SIOCOUTQ, &result.sent);
    return result;
}

/// Returns whether a descriptor is one end of a multi handle's pair: what another thread wakes it up with goes in there.
static bool is_woken(libcurl_multi multi, int descriptor) {
    // A pair of somebody else's may be in use meanwhile, but not in step.
    for (int round = 0; round < 3; round++) {
        struct queues before = queues(descriptor);
        curl.multi_wakeup(multi);
        struct queues after = queues(descriptor);
        if (after.to_read != before.to_read + 1 && after.sent <= before.sent) return false;
    }
    return true;
}

/// Returns whether a descriptor may be one end of a pair that children inherit: a pipe, from 8.5 on, or a Unix socket that
/// this process is connected to itself by.
static bool is_inheritable_pair(int descriptor) {
    int flags = fcntl(descriptor, F_GETFD);
    struct stat status;
    if (flags < 0 || flags & FD_CLOEXEC || fstat(descriptor, &status) != 0) return false;
    if (S_ISFIFO(status.st_mode)) return true;
    int domain;
    struct ucred peer;
    socklen_t domain_size = sizeof domain, peer_size = sizeof peer;
    return getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &domain, &domain_size) == 0 && domain == AF_UNIX &&
        getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &peer_size) == 0 && peer.pid == getpid();
}

/// Keeps child processes from inheriting the pair by which other threads could wake a multi handle up. There is
/// no way to ask libcurl for them, or to do without.
static void keep_wakeup_private(libcurl_multi multi) {
    int count = 0;
    long limit = sysconf(_SC_OPEN_MAX);
    for (int descriptor = 0; descriptor < limit && count < 2; descriptor++) {
        if (!is_inheritable_pair(descriptor) || !is_woken(multi, descriptor)) continue;
        fcntl(descriptor, F_SETFD, FD_CLOEXEC);
        count++;
    }
}

libcurl_multi libcurl_multi_create(void) {
    libcurl_multi multi = curl.multi_init();
    if (multi && version < FIRST_PRIVATE_VERSION) keep_wakeup_private(multi);
    return multi;
}

void libcurl_multi_destroy(libcurl_multi multi) { curl.multi_cleanup(multi); }

int libcurl_multi_set_long(libcurl_multi multi, int option, long value) {
    return curl.multi_setopt(multi, option, value);
}

int libcurl_multi_set_sockets(
    libcurl_multi multi,
    int (*function)(libcurl_easy, int socket, int what, void *context, void *known),
    void *context) {
    int code = curl.multi_setopt(multi, CURLMOPT_SOCKETDATA, context);
    return code ? code : curl.multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, function);
}

int libcurl_multi_set_timer(
    libcurl_multi multi, int (*function)(libcurl_multi, long milliseconds, void *context), void *context) {
    int code = curl.multi_setopt(multi, CURLMOPT_TIMERDATA, context);
    return code ? code : curl.multi_setopt(multi, CURLMOPT_TIMERFUNCTION, function);
}

int libcurl_multi_add(libcurl_multi multi, libcurl_easy handle) { return curl.multi_add_handle(multi, handle); }

int libcurl_multi_remove(libcurl_multi multi, libcurl_easy handle) { return curl.multi_remove_handle(multi, handle); }

int libcurl_multi_act(libcurl_multi multi, int socket, int mask) {
    int running;
    return curl.multi_socket_action(multi, socket, mask, &running);
}

/// Descriptors that connections leave to others.
#define SPARE_DESCRIPTORS 16

int connection_socket(int family, int kind, int protocol) {
    int result = socket(family, kind | SOCK_CLOEXEC, protocol);
    // Leaves some descriptors to the rest of the process: a look-up needs three, and libdispatch ends the process if it can't
    // open a file below /proc. The system gives out the lowest number.
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur > 2 * SPARE_DESCRIPTORS &&
        result >= (int)limit.rlim_cur - SPARE_DESCRIPTORS) {
        close(result);
        errno = EMFILE;
        return -1;
    }
    if (result < 0 || (family != AF_INET && family != AF_INET6)) return result;
    // Keeps a load balancer or a NAT from forgetting an idle connection, and tells of one that has died: two minutes later,
    // with the system's nine probes.
    const int on = 1, idle = 30, interval = 10;
    setsockopt(result, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    setsockopt(result, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
    setsockopt(result, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof interval);
    return result;
}

int connection_begin(const char *address, int port) {
    struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV, .ai_socktype = SOCK_STREAM}, *found;
    char service[8];
    snprintf(service, sizeof service, "%d", port);
    if (getaddrinfo(address, service, &hints, &found) != 0) {
        errno = EINVAL;
        return -1;
    }
    int result = connection_socket(found->ai_family, SOCK_STREAM | SOCK_NONBLOCK, 0);
    if (result >= 0 && connect(result, found->ai_addr, found->ai_addrlen) != 0 && errno != EINPROGRESS) {
        int error = errno;
        close(result);
        errno = error;
        result = -1;
    }
    freeaddrinfo(found);
    return result;
}

int connection_error(int socket) {
    int error = 0;
    socklen_t size = sizeof error;
    if (getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size) != 0) return errno;
    struct sockaddr_storage peer;
    socklen_t length = sizeof peer;
    bool is_connecting = error == 0 && getpeername(socket, (struct sockaddr *)&peer, &length) != 0 && errno == ENOTCONN;
    return is_connecting ? EINPROGRESS : error;
}

int64_t connection_silence(int socket) {
    struct tcp_info info;
    socklen_t size = sizeof info;
    if (getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) != 0 || info.tcpi_state == TCP_SYN_SENT) return -1;
    // The peer also acknowledges probes: those of an idle connection, when it has all that was sent, and those that are
    // sent while it takes no bytes.
    uint32_t taken = info.tcpi_unacked > 0 ? info.tcpi_last_ack_recv : info.tcpi_last_data_sent;
    bool is_taking = info.tcpi_backoff == 0 && taken < info.tcpi_last_data_recv;
    return is_taking ? taken : info.tcpi_last_data_recv;
}

bool connection_is_unanswered(int socket) {
    struct tcp_info info;
    socklen_t size = sizeof info;
    return getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) == 0 && info.tcpi_unacked > 0 &&
        info.tcpi_backoff > 1;
}

int connection_port(int socket) {
    struct sockaddr_storage address = {0};
    socklen_t size = sizeof address;
    if (getsockname(socket, (struct sockaddr *)&address, &size) != 0) return 0;
    if (address.ss_family == AF_INET) return ntohs(((struct sockaddr_in *)&address)->sin_port);
    return address.ss_family == AF_INET6 ? ntohs(((struct sockaddr_in6 *)&address)->sin6_port) : 0;
}

bool libcurl_multi_next_done(libcurl_multi multi, struct libcurl_done *done) {
    int waiting;
    struct message *message;
    while ((message = curl.multi_info_read(multi, &waiting))) {
        if (message->kind != CURLMSG_DONE) continue;
        done->handle = message->handle;
        done->code = message->data.result;
        return true;
    }
    return false;
}

#endif
