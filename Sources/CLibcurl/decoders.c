#include "CLibcurl.h"

#if defined(__linux__)

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

enum { Z_NO_FLUSH = 0, Z_OK = 0, Z_STREAM_END = 1, Z_BUF_ERROR = -5, MAX_WBITS = 15, GZIP_ONLY = 16 };
enum { BROTLI_ERROR = 0, BROTLI_SUCCESS = 1 };

/// The largest window that a body may ask for, as a power of two: RFC 9659, section 3.
enum { ZSTD_WINDOW_LOG_MAX = 100, LARGEST_WINDOW_LOG = 23 };

/// `ZSTD_inBuffer` and `ZSTD_outBuffer`.
struct zstd_buffer {
    const void *bytes;
    size_t size;
    size_t position;
};

/// zlib's `z_stream`.
struct zlib_stream {
    const uint8_t *next_in;
    unsigned int avail_in;
    unsigned long total_in;
    uint8_t *next_out;
    unsigned int avail_out;
    unsigned long total_out;
    const char *msg;
    void *state;
    void *zalloc;
    void *zfree;
    void *opaque;
    int data_type;
    unsigned long adler;
    unsigned long reserved;
};

struct content_decoder {
    enum content_coding coding;
    struct zlib_stream zlib;
    void *brotli;
    void *zstd;
};

static int (*inflate_init)(struct zlib_stream *, int window_bits, const char *version, int stream_size);
static int (*inflate_some)(struct zlib_stream *, int flush);
static int (*inflate_end)(struct zlib_stream *);
static void *(*brotli_create)(void *, void *, void *);
static int (*brotli_decode)(void *, size_t *, const uint8_t **, size_t *, uint8_t **, size_t *);
static void (*brotli_destroy)(void *);

static void *(*zstd_create)(void);
static size_t (*zstd_set)(void *, int parameter, int value);
static size_t (*zstd_decode)(void *, struct zstd_buffer *output, struct zstd_buffer *input);
static unsigned int (*zstd_is_error)(size_t);
static size_t (*zstd_free)(void *);

static const struct {
    const char *library;
    const char *name;
    void *function;
} functions[] = {
    {"libz.so.1", "inflateInit2_", &inflate_init},
    {"libz.so.1", "inflate", &inflate_some},
    {"libz.so.1", "inflateEnd", &inflate_end},
    {"libbrotlidec.so.1", "BrotliDecoderCreateInstance", &brotli_create},
    {"libbrotlidec.so.1", "BrotliDecoderDecompressStream", &brotli_decode},
    {"libbrotlidec.so.1", "BrotliDecoderDestroyInstance", &brotli_destroy},
    {"libzstd.so.1", "ZSTD_createDStream", &zstd_create},
    {"libzstd.so.1", "ZSTD_DCtx_setParameter", &zstd_set},
    {"libzstd.so.1", "ZSTD_decompressStream", &zstd_decode},
    {"libzstd.so.1", "ZSTD_isError", &zstd_is_error},
    {"libzstd.so.1", "ZSTD_freeDStream", &zstd_free},
};

static void load(void) {
    for (size_t index = 0; index < sizeof functions / sizeof *functions; index++) {
        void *library = dlopen(functions[index].library, RTLD_NOW | RTLD_LOCAL);
        if (library) *(void **)functions[index].function = dlsym(library, functions[index].name);
    }
}

static bool begin(content_decoder decoder) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    int window_bits = MAX_WBITS;
    switch (decoder->coding) {
    case content_coding_brotli:
        if (brotli_create && brotli_decode && brotli_destroy) decoder->brotli = brotli_create(NULL, NULL, NULL);
        return decoder->brotli;
    case content_coding_zstd:
        if (zstd_create && zstd_set && zstd_decode && zstd_is_error && zstd_free) decoder->zstd = zstd_create();
        if (decoder->zstd) zstd_set(decoder->zstd, ZSTD_WINDOW_LOG_MAX, LARGEST_WINDOW_LOG);
        return decoder->zstd;
    case content_coding_raw_deflate: window_bits = -MAX_WBITS; break;
    case content_coding_gzip: window_bits = MAX_WBITS + GZIP_ONLY; break;
    case content_coding_zlib: break;
    }
    return inflate_init && inflate_some && inflate_end &&
        inflate_init(&decoder->zlib, window_bits, "1.2.11", sizeof decoder->zlib) == Z_OK;
}

content_decoder content_decoder_create(enum content_coding coding) {
    content_decoder decoder = calloc(1, sizeof *decoder);
    if (!decoder) return NULL;
    decoder->coding = coding;
    if (begin(decoder)) return decoder;
    free(decoder);
    return NULL;
}

void content_decoder_destroy(content_decoder decoder) {
    if (decoder->brotli) {
        brotli_destroy(decoder->brotli);
    } else if (decoder->zstd) {
        zstd_free(decoder->zstd);
    } else {
        inflate_end(&decoder->zlib);
    }
    free(decoder);
}

enum content_decoding content_decoder_decode(
    content_decoder decoder,
    const uint8_t **input,
    size_t *input_count,
    uint8_t *output,
    size_t capacity,
    size_t *output_count) {
    if (decoder->brotli) {
        size_t room = capacity;
        int result = brotli_decode(decoder->brotli, input_count, input, &room, &output, NULL);
        *output_count = capacity - room;
        return result == BROTLI_ERROR ? content_decoding_failed
            : result == BROTLI_SUCCESS ? content_decoding_ended
                                       : content_decoding_more;
    }
    if (decoder->zstd) {
        struct zstd_buffer in = {*input, *input_count, 0};
        struct zstd_buffer out = {output, capacity, 0};
        size_t result = zstd_decode(decoder->zstd, &out, &in);
        *input += in.position;
        *input_count -= in.position;
        *output_count = out.position;
        return zstd_is_error(result) ? content_decoding_failed
            : result == 0            ? content_decoding_ended
                                     : content_decoding_more;
    }
    struct zlib_stream *zlib = &decoder->zlib;
    const unsigned int taken = *input_count > 1u << 30 ? 1u << 30 : (unsigned int)*input_count;
    zlib->next_in = *input;
    zlib->avail_in = taken;
    zlib->next_out = output;
    zlib->avail_out = (unsigned int)capacity;
    int result = inflate_some(zlib, Z_NO_FLUSH);
    *input = zlib->next_in;
    *input_count -= taken - zlib->avail_in;
    *output_count = capacity - zlib->avail_out;
    switch (result) {
    case Z_STREAM_END: return content_decoding_ended;
    // There is no input or no room for output, which is not an error.
    case Z_BUF_ERROR:
    case Z_OK: return content_decoding_more;
    default: return content_decoding_failed;
    }
}

#endif
