// The C parts of the engine over libcurl: libcurl's functions, loaded at run time and called without variable
// arguments; the decoders of gzip, Brotli and Zstandard, loaded the same way; a thread, and a poll set. Empty on platforms without
// this engine.
//
// Names and numbers are those of libcurl's documentation; the numbers are part of its stable ABI.

#ifndef DEFERRED_CLIBCURL_H
#define DEFERRED_CLIBCURL_H

#if defined(__linux__)

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// MARK: libcurl

/// An easy handle, a multi handle, and what easy handles share.
typedef struct libcurl_easy *libcurl_easy;
typedef struct libcurl_multi *libcurl_multi;
typedef struct libcurl_share *libcurl_share;

/// A set of descriptors to wait for.
typedef struct poll_set *poll_set;

/// A list of header lines.
struct libcurl_slist {
    char *line;
    struct libcurl_slist *next;
};

/// A message of a multi handle about a transfer that has ended.
struct libcurl_done {
    libcurl_easy handle;
    int code;
};

/// Bytes that are copied into an option.
struct libcurl_blob {
    const void *data;
    size_t count;
    unsigned int flags;
};

/// Loads libcurl once per process: the one in the program, if it is linked there statically, and otherwise the system's.
/// Returns its version number, such as 0x075801, or 0 and the reason why it isn't
/// available.
uint32_t libcurl_load(const char **reason);

/// Returns libcurl's version as text. This and all following functions require that libcurl was loaded.
const char *libcurl_version(void);
const char *libcurl_strerror(int code);

libcurl_easy libcurl_easy_create(void);
void libcurl_easy_destroy(libcurl_easy handle);
int libcurl_easy_set_long(libcurl_easy handle, int option, long value);
int libcurl_easy_set_offset(libcurl_easy handle, int option, int64_t value);
int libcurl_easy_set_pointer(libcurl_easy handle, int option, const void *value);
int libcurl_easy_set_blob(libcurl_easy handle, int option, const void *data, size_t count);
int libcurl_easy_set_transfer(
    libcurl_easy handle, int option, size_t (*function)(char *bytes, size_t size, size_t count, void *context));
int libcurl_easy_set_seek(libcurl_easy handle, int (*function)(void *context, int64_t offset, int origin));
/// Sets the function that makes the lines behind a body that is sent in chunks; libcurl frees them.
int libcurl_easy_set_trailers(libcurl_easy handle, int (*function)(struct libcurl_slist **lines, void *context));
/// Sets the function that is called before a request is sent, also when it is sent again. Unknown before 7.80.
int libcurl_easy_set_before_sending(
    libcurl_easy handle,
    int (*function)(void *context, char *remote_ip, char *local_ip, int remote_port, int local_port));
/// Sets the function that is called before a name is looked up. If it returns anything but 0, the request fails.
int libcurl_easy_set_before_look_up(
    libcurl_easy handle, int (*function)(void *resolver, void *reserved, void *context));

/// The source of the sockets of connections that a handle makes.
struct socket_source {
    /// The set that knows them, and closes them.
    poll_set set;
    /// The error number of a socket that could not be made, or 0.
    int error;
    /// The socket to take instead of a new one, or -1. A connection was begun on it by `connection_begin`, and is made:
    /// libcurl connects it, too, and that call succeeds, since it is the first that would tell of the connection.
    int connected;
};
int libcurl_easy_set_sockets(libcurl_easy handle, struct socket_source *source);
/// Sets a value of the information's type: a long, an `int64_t`, a text or another pointer.
int libcurl_easy_get(libcurl_easy handle, int info, void *value);
int libcurl_easy_pause(libcurl_easy handle, int mask);
/// Returns whether the TLS of the handle's connection holds bytes that were received and not read. Known of OpenSSL only.
bool libcurl_easy_has_decrypted(libcurl_easy handle);
/// Whether the other end of a connection has closed it for sending. Of TLS other than OpenSSL's, it isn't known.
enum peer_state { PEER_OPEN, PEER_CLOSED, PEER_UNKNOWN };
enum peer_state libcurl_easy_peer(libcurl_easy handle, int socket, bool is_secure);

/// Sets the function that gets what libcurl says about the request, of `CURLINFO_TEXT` and other kinds.
int libcurl_easy_set_debug(
    libcurl_easy handle, int (*function)(libcurl_easy, int kind, char *text, size_t count, void *context));
/// Returns the status of the last HTTP/2 response of which libcurl has seen the head, also if it never delivered that; or
/// 0. Unknown before 7.83.
int libcurl_easy_http2_status(libcurl_easy handle);

struct libcurl_slist *libcurl_slist_append(struct libcurl_slist *list, const char *line);
void libcurl_slist_free(struct libcurl_slist *list);

/// Creates a cache of TLS sessions, for handles of one thread. They must be gone before it is destroyed.
libcurl_share libcurl_share_create(void);
void libcurl_share_destroy(libcurl_share share);

libcurl_multi libcurl_multi_create(void);
void libcurl_multi_destroy(libcurl_multi multi);
int libcurl_multi_set_long(libcurl_multi multi, int option, long value);
int libcurl_multi_set_sockets(
    libcurl_multi multi,
    int (*function)(libcurl_easy, int socket, int what, void *context, void *known),
    void *context);
int libcurl_multi_set_timer(
    libcurl_multi multi, int (*function)(libcurl_multi, long milliseconds, void *context), void *context);
int libcurl_multi_add(libcurl_multi multi, libcurl_easy handle);
int libcurl_multi_remove(libcurl_multi multi, libcurl_easy handle);
int libcurl_multi_act(libcurl_multi multi, int socket, int mask);

/// Makes a socket that child processes don't inherit, and whose connection is kept alive.
int connection_socket(int family, int kind, int protocol);

/// Begins to connect to a numeric address, and returns the socket, or -1 and an error number in `errno`.
int connection_begin(const char *address, int port);

/// Returns the error number with which a connection has failed, 0 for one that is there, or EINPROGRESS.
int connection_error(int socket);

/// Returns the milliseconds since a TCP connection last received bytes or took some that were sent, or -1 if there is no
/// connection.
int64_t connection_silence(int socket);

/// Returns whether bytes were sent again and again without an answer.
bool connection_is_unanswered(int socket);

/// Returns the local port of a connection, or 0 if it has none.
int connection_port(int socket);

/// Removes the next message about a transfer that has ended. Returns false if there is none.
bool libcurl_multi_next_done(libcurl_multi multi, struct libcurl_done *done);

enum {
    CURLE_OK = 0,
    CURLE_UNSUPPORTED_PROTOCOL = 1,
    CURLE_URL_MALFORMAT = 3,
    CURLE_COULDNT_RESOLVE_PROXY = 5,
    CURLE_COULDNT_RESOLVE_HOST = 6,
    CURLE_COULDNT_CONNECT = 7,
    CURLE_WEIRD_SERVER_REPLY = 8,
    CURLE_HTTP2 = 16,
    CURLE_PARTIAL_FILE = 18,
    CURLE_WRITE_ERROR = 23,
    CURLE_OPERATION_TIMEDOUT = 28,
    CURLE_SSL_CONNECT_ERROR = 35,
    CURLE_BAD_FUNCTION_ARGUMENT = 43,
    CURLE_GOT_NOTHING = 52,
    CURLE_SEND_ERROR = 55,
    CURLE_RECV_ERROR = 56,
    CURLE_SSL_CERTPROBLEM = 58,
    CURLE_SSL_CIPHER = 59,
    CURLE_PEER_FAILED_VERIFICATION = 60,
    CURLE_BAD_CONTENT_ENCODING = 61,
    CURLE_SSL_CACERT_BADFILE = 77,
    CURLE_SSL_PINNEDPUBKEYNOTMATCH = 90,
    CURLE_SSL_INVALIDCERTSTATUS = 91,
    CURLE_HTTP2_STREAM = 92,
    CURLE_PROXY = 97,
    CURLE_SSL_CLIENTCERT = 98,
    CURLE_TOO_LARGE = 100,
};

enum {
    CURLOPT_SSLVERSION = 32,
    CURLOPT_VERBOSE = 41,
    CURLOPT_HEADER = 42,
    CURLOPT_NOBODY = 44,
    CURLOPT_UPLOAD = 46,
    CURLOPT_FRESH_CONNECT = 74,
    CURLOPT_FORBID_REUSE = 75,
    CURLOPT_HTTPGET = 80,
    CURLOPT_HTTP_VERSION = 84,
    CURLOPT_BUFFERSIZE = 98,
    CURLOPT_NOSIGNAL = 99,
    CURLOPT_DNS_CACHE_TIMEOUT = 92,
    CURLOPT_CONNECTTIMEOUT_MS = 156,
    CURLOPT_PROTOCOLS = 181,
    CURLOPT_PATH_AS_IS = 234,
    CURLOPT_PROXY_SSLVERSION = 250,
    CURLOPT_SUPPRESS_CONNECT_HEADERS = 265,
    CURLOPT_UPLOAD_BUFFERSIZE = 280,
    CURLOPT_MAXAGE_CONN = 288,
    CURLOPT_MAXLIFETIME_CONN = 314,
    CURLOPT_QUICK_EXIT = 322,
    CURLOPT_WRITEDATA = 10001,
    CURLOPT_URL = 10002,
    CURLOPT_PROXY = 10004,
    CURLOPT_READDATA = 10009,
    CURLOPT_ERRORBUFFER = 10010,
    CURLOPT_USERAGENT = 10018,
    CURLOPT_HTTPHEADER = 10023,
    CURLOPT_SSLCERT = 10025,
    CURLOPT_KEYPASSWD = 10026,
    CURLOPT_HEADERDATA = 10029,
    CURLOPT_CUSTOMREQUEST = 10036,
    CURLOPT_CAINFO = 10065,
    CURLOPT_SSLKEY = 10087,
    CURLOPT_DEBUGDATA = 10095,
    CURLOPT_CAPATH = 10097,
    CURLOPT_SHARE = 10100,
    CURLOPT_PRIVATE = 10103,
    CURLOPT_RESOLVE = 10203,
    CURLOPT_OPENSOCKETDATA = 10164,
    CURLOPT_NOPROXY = 10177,
    CURLOPT_CLOSESOCKETDATA = 10209,
    CURLOPT_SEEKDATA = 10168,
    CURLOPT_PINNEDPUBLICKEY = 10230,
    CURLOPT_UNIX_SOCKET_PATH = 10231,
    CURLOPT_PROXYHEADER = 10228,
    CURLOPT_PROXY_CAINFO = 10246,
    CURLOPT_REQUEST_TARGET = 10266,
    CURLOPT_PROXY_CAPATH = 10247,
    CURLOPT_PROXY_SSLCERT = 10254,
    CURLOPT_PROXY_SSLKEY = 10256,
    CURLOPT_PROXY_KEYPASSWD = 10258,
    CURLOPT_PROXY_PINNEDPUBLICKEY = 10263,
    CURLOPT_RESOLVER_START_DATA = 10273,
    CURLOPT_TRAILERDATA = 10284,
    CURLOPT_PREREQDATA = 10313,
    CURLOPT_WRITEFUNCTION = 20011,
    CURLOPT_READFUNCTION = 20012,
    CURLOPT_HEADERFUNCTION = 20079,
    CURLOPT_DEBUGFUNCTION = 20094,
    CURLOPT_OPENSOCKETFUNCTION = 20163,
    CURLOPT_SEEKFUNCTION = 20167,
    CURLOPT_CLOSESOCKETFUNCTION = 20208,
    CURLOPT_RESOLVER_START_FUNCTION = 20272,
    CURLOPT_TRAILERFUNCTION = 20283,
    CURLOPT_PREREQFUNCTION = 20312,
    CURLOPT_INFILESIZE_LARGE = 30115,
    CURLOPT_CAINFO_BLOB = 40309,
    CURLOPT_PROXY_CAINFO_BLOB = 40310,
};

enum {
    /// A kind of the debug function.
    CURLINFO_TEXT = 0,
    CURLINFO_PRIVATE = 0x100015,
    CURLINFO_PRIMARY_IP = 0x100020,
    CURLINFO_HTTP_CONNECTCODE = 0x200016,
    CURLINFO_OS_ERRNO = 0x200019,
    CURLINFO_NUM_CONNECTS = 0x20001A,
    CURLINFO_PRIMARY_PORT = 0x200028,
    CURLINFO_LOCAL_PORT = 0x20002A,
    CURLINFO_PROXY_SSL_VERIFYRESULT = 0x20002F,
    CURLINFO_TLS_SSL_PTR = 0x40002D,
    CURLINFO_TOTAL_TIME_T = 0x600032,
    CURLINFO_NAMELOOKUP_TIME_T = 0x600033,
    CURLINFO_CONNECT_TIME_T = 0x600034,
    CURLINFO_STARTTRANSFER_TIME_T = 0x600036,
    CURLINFO_APPCONNECT_TIME_T = 0x600038,
};

enum {
    CURLMOPT_MAXCONNECTS = 6,
    CURLMOPT_MAX_HOST_CONNECTIONS = 7,
    CURLMOPT_MAX_CONCURRENT_STREAMS = 16,
    CURLMOPT_TIMERDATA = 10005,
    CURLMOPT_SOCKETDATA = 10002,
    CURLMOPT_SOCKETFUNCTION = 20001,
    CURLMOPT_TIMERFUNCTION = 20004,
};

enum {
    CURL_HTTP_VERSION_1_1 = 2,
    CURL_HTTP_VERSION_2TLS = 4,
    CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE = 5,
    CURL_SSLVERSION_TLSv1_2 = 6,
    CURL_SSLVERSION_TLSv1_3 = 7,
    CURLPROTO_HTTP = 1,
    CURLPROTO_HTTPS = 2,
    CURLPAUSE_RECV = 1,
    CURLPAUSE_SEND = 4,
    CURL_WRITEFUNC_PAUSE = 0x10000001,
    CURL_READFUNC_ABORT = 0x10000000,
    CURL_TRAILERFUNC_OK = 0,
    CURL_READFUNC_PAUSE = 0x10000001,
    CURL_SEEKFUNC_OK = 0,
    CURL_SEEKFUNC_FAIL = 1,
    CURL_PREREQFUNC_OK = 0,
    CURL_PREREQFUNC_ABORT = 1,
    CURL_POLL_IN = 1,
    CURL_POLL_OUT = 2,
    CURL_POLL_REMOVE = 4,
    CURL_SOCKET_TIMEOUT = -1,
};

// MARK: Decoders

/// A decoder for a content coding.
typedef struct content_decoder *content_decoder;

enum content_coding {
    content_coding_zlib,
    content_coding_raw_deflate,
    content_coding_gzip,
    content_coding_brotli,
    content_coding_zstd,
};

enum content_decoding { content_decoding_failed, content_decoding_more, content_decoding_ended };

/// Creates a decoder, or returns NULL if the system's library for it is missing. The first call loads that library.
content_decoder content_decoder_create(enum content_coding coding);
void content_decoder_destroy(content_decoder decoder);

/// Decodes as much of the input as fits into the output. Advances the input, and sets the number of bytes written.
enum content_decoding content_decoder_decode(
    content_decoder decoder,
    const uint8_t **input,
    size_t *input_count,
    uint8_t *output,
    size_t capacity,
    size_t *output_count);

// MARK: Thread

/// Starts a thread that blocks all signals: without SIGPIPE, writing to a closed connection fails instead.
///
/// - Parameter name: a constant of at most 15 bytes.
/// - Returns: 0, or an error number.
int quiet_thread_start(const char *name, void (*function)(void *), void *context);

/// Enclose a thread's use of libcurl. When the process exits, the exit waits for the threads that are inside and blocks
/// those that want to enter, because the libraries below libcurl then free the memory that they need.
void libcurl_enter(void);
void libcurl_leave(void);

/// Registers the exit handler. Called once, after those libraries have registered theirs.
void libcurl_watch_exit(void);

// MARK: Poll set

/// A descriptor that is ready, for what in libcurl's bits, and the number of its owner.
struct poll_ready {
    int descriptor;
    int mask;
    uint32_t owner;
};

/// The most descriptors that one wait reports. Others come with the next one.
enum { POLL_SET_MOST_EVENTS = 64 };

/// Creates a poll set, or returns null, with the reason in `errno`. It belongs to one thread at a time.
poll_set poll_set_create(void);
void poll_set_destroy(poll_set set);

/// Watches a descriptor for the events that libcurl asked for.
///
/// - Parameter owner: comes back with the descriptor's events.
int poll_set_watch(poll_set set, int descriptor, uint32_t owner, int what);

/// Notes that no request uses the connection of a descriptor that is watched, until it is watched again. It has to be closed
/// by `poll_set_close`.
///
/// What comes on it meanwhile is its end, or bytes that nobody has asked for, which would be taken for the response to the
/// next request: then it is closed, by `poll_set_wait` or by `poll_set_look`. To be watched again, it needs no system call.
void poll_set_watch_idle(poll_set set, int descriptor);

/// Lets `poll_set_wait` tell, without any events, when it has closed the idle connection of a descriptor.
void poll_set_tell(poll_set set, int descriptor);

/// Watches the socket of a connection no longer, whose request is paused, until it is watched again.
void poll_set_pause(poll_set set, int descriptor);

/// Notes that the request of a paused connection with this local port has ended, so that it is idle. Does nothing to others:
/// somebody else may use it by now, or its descriptor.
void poll_set_end_pause(poll_set set, int descriptor, int port);

/// Notes that a descriptor is the socket of a connection, until `poll_set_close`.
void poll_set_open(poll_set set, int descriptor);

/// Returns the socket of the connection with these ends, or -1.
int poll_set_find(poll_set set, int port, const char *host, int remote_port);

/// Closes the idle connections of this owner to this address, or to any where `host` is null, that were silent for so many
/// milliseconds.
void poll_set_close_silent(poll_set set, uint32_t owner, const char *host, int remote_port, int64_t silence);

/// Watches a descriptor no longer.
void poll_set_remove(poll_set set, int descriptor);

/// Closes the connection of a descriptor, which stays open: it is at the end of its input from now on.
void poll_set_close_idle(poll_set set, int descriptor);

/// Closes an idle connection, just before a request is sent on it, if something has come.
///
/// - Parameters:
///   - port: its local port.
///   - host: the address at the other end.
///   - has_more: whether something that has come was read from the descriptor already.
/// - Returns: whether it was closed.
bool poll_set_look(poll_set set, int port, const char *host, int remote_port, bool has_more);

/// Removes a descriptor from a set and closes it.
int poll_set_close(void *set, int descriptor);

/// Waits for the given time, or forever for -1, and returns the number of descriptors that are ready. Closes the idle
/// connections among them.
///
/// - Parameter ready: has room for `POLL_SET_MOST_EVENTS`.
int poll_set_wait(poll_set set, struct poll_ready *ready, int milliseconds);

/// Wakes up the thread that waits for the set, or that does so next. Called from any thread while the set is there.
void poll_set_wake(poll_set set);

#endif
#endif
