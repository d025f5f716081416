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

static void load_zlib(void) {
    void *library = dlopen("libz.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) return;
    *(void **)&inflate_some = dlsym(library, "inflate");
    *(void **)&inflate_end = dlsym(library, "inflateEnd");
    if (inflate_some && inflate_end) *(void **)&inflate_init = dlsym(library, "inflateInit2_");
}

static void load_brotli(void) {
    void *library = dlopen("libbrotlidec.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) return;
    *(void **)&brotli_decode = dlsym(library, "BrotliDecoderDecompressStream");
    *(void **)&brotli_destroy = dlsym(library, "BrotliDecoderDestroyInstance");
    if (brotli_decode && brotli_destroy) *(void **)&brotli_create = dlsym(library, "BrotliDecoderCreateInstance");
}

static void load_zstd(void) {
    void *library = dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) return;
    *(void **)&zstd_set = dlsym(library, "ZSTD_DCtx_setParameter");
    *(void **)&zstd_decode = dlsym(library, "ZSTD_decompressStream");
    *(void **)&zstd_is_error = dlsym(library, "ZSTD_isError");
    *(void **)&zstd_free = dlsym(library, "ZSTD_freeDStream");
    if (zstd_set && zstd_decode && zstd_is_error && zstd_free) {
        *(void **)&zstd_create = dlsym(library, "ZSTD_createDStream");
    }
}

static bool begin(content_decoder decoder) {
    static pthread_once_t zlib_once = PTHREAD_ONCE_INIT;
    static pthread_once_t brotli_once = PTHREAD_ONCE_INIT;
    static pthread_once_t zstd_once = PTHREAD_ONCE_INIT;
    int window_bits = MAX_WBITS;
    switch (decoder->coding) {
    case content_coding_brotli:
        pthread_once(&brotli_once, load_brotli);
        if (brotli_create) decoder->brotli = brotli_create(NULL, NULL, NULL);
        return decoder->brotli;
    case content_coding_zstd:
        pthread_once(&zstd_once, load_zstd);
        if (zstd_create) decoder->zstd = zstd_create();
        if (decoder->zstd) zstd_set(decoder->zstd, ZSTD_WINDOW_LOG_MAX, LARGEST_WINDOW_LOG);
        return decoder->zstd;
    case content_coding_raw_deflate: window_bits = -MAX_WBITS; break;
    case content_coding_gzip: window_bits = MAX_WBITS + GZIP_ONLY; break;
    case content_coding_zlib: break;
    }
    pthread_once(&zlib_once, load_zlib);
    return inflate_init && inflate_init(&decoder->zlib, window_bits, "1.2.11", sizeof decoder->zlib) == Z_OK;
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
