import Foundation
import TestSupport
import Testing

@testable import DeferredCache
@testable import DeferredHTTP

/// Each row names the section of RFC 9111, unless it names another RFC.
@Suite(.ownThread, .timeLimit(.minutes(1)))
struct ReuseRulesTests {
    // section | stored response | request | seconds after its arrival | decision
    @Test(arguments: [
        // Lifetimes.
        "4.2.1 | 200; Cache-Control: max-age=10 | GET | 0 | fresh 0",
        "4.2.1 | 200; Cache-Control: max-age=10 | GET | 9.9 | fresh 9",
        "4.2.1 | 200; Cache-Control: max-age=10 | GET | 10 | forward",
        "4.2.1 | 200; Cache-Control: max-age=10 | HEAD | 9 | fresh 9",
        "4.2.1 | 200; Cache-Control: max-age=10; Expires: @0 | GET | 9 | fresh 9",
        "4.2.1 | 200; Cache-Control: max-age=0; Expires: @100 | GET | 0 | forward",
        "4.2.1 | 200; Expires: @10 | GET | 9 | fresh 9",
        "4.2.1 | 200; Expires: @10 | GET | 10 | forward",
        "4.2.1 | 200; Expires: @10; Date: @0 | GET | 9 | fresh 9",
        "4.2.1 | 200; Expires: @10; Date: @-5 | GET | 9 | fresh 14",
        "4.2.1 | 200; Expires: @10; Date: @-5 | GET | 10 | forward",
        "4.2.1 | 200; Expires: @10; Date: @5 | GET | 4.9 | fresh 4",
        "4.2.1 | 200; Expires: @10; Date: @5 | GET | 5 | forward",
        "4.2.1 | 200; Expires: @10; Date: yesterday | GET | 9 | fresh 9",
        "5.3 | 200; Expires: 0 | GET | 0 | forward",
        "5.3 | 200; Expires: -1; ETag: \"a\" | GET | 0 | validate",
        "5.3 | 200; Expires: @10; Expires: @11 | GET | 0 | forward",
        "5.3 | 200; Expires: @-10 | GET | 0 | forward",
        "5.3 | 200; Expires: @0 | GET | 0 | forward",
        "4.2.1 | 200; Cache-Control: max-age=10; Expires: 0 | GET | 9 | fresh 9",
        "4.2.1 | 200; Cache-Control: max-age=100, max-age=1 | GET | 50 | fresh 50",
        "4.2.1 | 200; Cache-Control: max-age=1, max-age=100 | GET | 50 | forward",
        "4.2.1 | 200; Cache-Control: max-age=100; Cache-Control: max-age=1 | GET | 50 | fresh 50",
        "4.2.1 | 200; Cache-Control: max-age=1; Cache-Control: max-age=100 | GET | 50 | forward",
        // The syntax of directives.
        "5.2 | 200; Cache-Control: MAX-age=10 | GET | 9 | fresh 9",
        "5.2 | 200; Cache-Control: max-age=\"10\" | GET | 9 | fresh 9",
        "5.2 | 200; Cache-Control: max-age='10' | GET | 0 | forward",
        "5.2 | 200; Cache-Control: max-age=010 | GET | 9 | fresh 9",
        "5.2 | 200; Cache-Control: max-age=10.0 | GET | 0 | forward",
        "5.2 | 200; Cache-Control: max-age=10a | GET | 0 | forward",
        "5.2 | 200; Cache-Control: max-age=a10 | GET | 0 | forward",
        "5.2 | 200; Cache-Control: max-age=-10 | GET | 0 | forward",
        "5.2 | 200; Cache-Control: max-age= | GET | 0 | forward",
        "5.2 | 200; Cache-Control: max-age | GET | 0 | forward",
        "5.2 | 200; Cache-Control: max-age= 10 | GET | 0 | forward",
        "5.2 | 200; Cache-Control: extension=\"max-age=100\", max-age=1 | GET | 2 | forward",
        "5.2 | 200; Cache-Control: max-age=1, extension=\"max-age=100\" | GET | 2 | forward",
        "5.2 | 200; Cache-Control: extension=\"a\\\"b,\", max-age=10 | GET | 2 | fresh 2",
        "5.2 | 200; Cache-Control: ,, max-age=10 , | GET | 2 | fresh 2",
        "5.2.3 | 200; Cache-Control: future, max-age=10, other=1 | GET | 2 | fresh 2",
        "1.2.2 | 200; Cache-Control: max-age=2147483647 | GET | 2 | fresh 2",
        "1.2.2 | 200; Cache-Control: max-age=2147483648 | GET | 2 | fresh 2",
        "1.2.2 | 200; Cache-Control: max-age=99999999999 | GET | 2 | fresh 2",
        "1.2.2 | 200; Cache-Control: max-age=99999999999999999999999 | GET | 2 | fresh 2",
        "5.2.2.10 | 200; Cache-Control: s-maxage=100, max-age=1 | GET | 2 | forward",
        "5.2.2.10 | 200; Cache-Control: s-maxage=1, max-age=100 | GET | 2 | fresh 2",
        "5.2.2.7 | 200; Cache-Control: private, max-age=100 | GET | 2 | fresh 2",
        "5.2.2.8 | 200; Cache-Control: proxy-revalidate, max-age=1; ETag: \"a\" | GET; Cache-Control: max-stale | 2 | stale 2",
        "5.4 | 200; Pragma: no-cache; Cache-Control: max-age=10 | GET | 2 | fresh 2",
        // Ages.
        "4.2.3 | 200; Cache-Control: max-age=10; Age: 5 | GET | 4 | fresh 9",
        "4.2.3 | 200; Cache-Control: max-age=10; Age: 5 | GET | 5 | forward",
        "4.2.3 | 200; Cache-Control: max-age=10; Date: @-5 | GET | 4 | fresh 9",
        "4.2.3 | 200; Cache-Control: max-age=10; Date: @-5 | GET | 5 | forward",
        "4.2.3 | 200; Cache-Control: max-age=10; Date: @-3; Age: 5 | GET | 4 | fresh 9",
        "4.2.3 | 200; Cache-Control: max-age=10; Date: @-5; Age: 3 | GET | 4 | fresh 9",
        "4.2.3 | 200; Cache-Control: max-age=10; Date: @50 | GET | 9 | fresh 9",
        "5.1 | 200; Cache-Control: max-age=10; Age: abc | GET | 4 | fresh 4",
        "5.1 | 200; Cache-Control: max-age=10; Age: -7 | GET | 4 | fresh 4",
        "5.1 | 200; Cache-Control: max-age=10; Age: 7.0 | GET | 4 | fresh 4",
        "5.1 | 200; Cache-Control: max-age=10; Age: 70, 0 | GET | 4 | forward",
        "5.1 | 200; Cache-Control: max-age=10; Age: 0, 70 | GET | 4 | fresh 4",
        "5.1 | 200; Cache-Control: max-age=10; Age: 70; Age: 0 | GET | 4 | forward",
        "5.1 | 200; Cache-Control: max-age=10; Age: 0; Age: 70 | GET | 4 | fresh 4",
        "5.1 | 200; Cache-Control: max-age=10; Age: 5, 5 | GET | 4 | fresh 9",
        "5.1 | 200; Cache-Control: max-age=10; Age:  | GET | 4 | fresh 4",
        "1.2.2 | 200; Cache-Control: max-age=10; Age: 2147483648 | GET | 0 | forward",
        "1.2.2 | 200; Cache-Control: max-age=10; Age: 99999999999999999999 | GET | 0 | forward",
        // Heuristics.
        "4.2.2 | 200; Last-Modified: @-1000 | GET | 99 | fresh 99",
        "4.2.2 | 200; Last-Modified: @-1000 | GET | 100 | validate",
        "4.2.2 | 200; Last-Modified: @-1000; Date: @0 | GET | 99 | fresh 99",
        "4.2.2 | 200; Last-Modified: @-100000000; Date: @0 | GET | 604799 | fresh 604799",
        "4.2.2 | 200; Last-Modified: @-100000000; Date: @0 | GET | 604800 | validate",
        "4.2.2 | 200; Last-Modified: @1000 | GET | 0 | validate",
        "4.2.2 | 200; Last-Modified: tomorrow | GET | 0 | validate",
        "4.2.2 | 200; Last-Modified: @-1000; Expires: 0 | GET | 0 | validate",
        "4.2.2 | 200; Last-Modified: @-1000; Cache-Control: max-age=0 | GET | 0 | validate",
        "4.2.2 | 200; ETag: \"a\" | GET | 0 | validate",
        "4.2.2 | 203; Last-Modified: @-1000 | GET | 99 | fresh 99",
        "4.2.2 | 204; Last-Modified: @-1000 | GET | 99 | fresh 99",
        "4.2.2 | 300; Last-Modified: @-1000 | GET | 99 | fresh 99",
        "4.2.2 | 301; Last-Modified: @-1000 | GET | 99 | fresh 99",
        "4.2.2 | 308; Last-Modified: @-1000 | GET | 99 | fresh 99",
        "4.2.2 | 404; Last-Modified: @-1000 | GET | 99 | fresh 99",
        "4.2.2 | 405; Last-Modified: @-1000 | GET | 99 | fresh 99",
        "4.2.2 | 410; Last-Modified: @-1000 | GET | 99 | fresh 99",
        "4.2.2 | 414; Last-Modified: @-1000 | GET | 99 | fresh 99",
        "4.2.2 | 501; Last-Modified: @-1000 | GET | 99 | fresh 99",
        "4.2.2 | 599; Last-Modified: @-1000; Cache-Control: public | GET | 99 | fresh 99",
        "4.2.2 | 201; Last-Modified: @-1000; Cache-Control: public | GET | 100 | validate",
        // Directives of the response.
        "5.2.2.4 | 200; Cache-Control: no-cache, max-age=10; ETag: \"a\" | GET | 0 | validate",
        "5.2.2.4 | 200; Cache-Control: no-cache=\"A, B\", max-age=10; ETag: \"a\" | GET | 0 | validate",
        "5.2.2.4 | 200; Cache-Control: no-cache, max-age=10; ETag: \"a\" | GET; Cache-Control: max-stale | 0 | validate",
        "5.2.2.4 | 200; Cache-Control: no-cache; Expires: @10 | GET | 0 | forward",
        "5.2.2.2 | 200; Cache-Control: must-revalidate, max-age=10; ETag: \"a\" | GET | 9 | fresh 9",
        "5.2.2.2 | 200; Cache-Control: must-revalidate, max-age=10; ETag: \"a\" | GET; Cache-Control: max-stale | 11 | validate",
        "5.2.2.2 | 200; Cache-Control: must-revalidate, max-age=1, stale-while-revalidate=9 | GET | 2 | forward",
        "5.2.2.2 | 200; Cache-Control: must-revalidate, max-age=1, stale-if-error=9 | GET | 2 | forward",
        "8246 2 | 200; Cache-Control: max-age=10, immutable; ETag: \"a\" | GET; Cache-Control: max-age=0 | 9 | fresh 9",
        "8246 2 | 200; Cache-Control: max-age=10, immutable; ETag: \"a\" | GET; Cache-Control: max-age=0 | 10 | validate",
        "8246 2 | 200; Cache-Control: max-age=10, immutable; ETag: \"a\" | GET; Cache-Control: no-cache | 9 | validate",
        "8246 2 | 200; Cache-Control: max-age=10, immutable; ETag: \"a\" | GET; Cache-Control: min-fresh=5 | 9 | validate",
        // Directives of the request.
        "5.2.1.1 | 200; Cache-Control: max-age=10; ETag: \"a\" | GET; Cache-Control: max-age=5 | 5 | fresh 5",
        "5.2.1.1 | 200; Cache-Control: max-age=10; ETag: \"a\" | GET; Cache-Control: max-age=5 | 5.1 | validate",
        "5.2.1.1 | 200; Cache-Control: max-age=10; ETag: \"a\" | GET; Cache-Control: max-age=0 | 0 | validate",
        "5.2.1.1 | 200; Cache-Control: max-age=10; ETag: \"a\" | GET; Cache-Control: max-age=x | 0 | validate",
        "5.2.1.1 | 200; Cache-Control: max-age=10; Age: 6; ETag: \"a\" | GET; Cache-Control: max-age=5 | 0 | validate",
        "5.2.1.1 | 200; Cache-Control: max-age=10 | GET; Cache-Control: max-age=50 | 11 | forward",
        "5.2.1.2 | 200; Cache-Control: max-age=10 | GET; Cache-Control: max-stale | 1000 | stale 1000",
        "5.2.1.2 | 200; Cache-Control: max-age=10 | GET; Cache-Control: max-stale=5 | 15 | stale 15",
        "5.2.1.2 | 200; Cache-Control: max-age=10 | GET; Cache-Control: max-stale=5 | 15.1 | forward",
        "5.2.1.2 | 200; Cache-Control: max-age=10 | GET; Cache-Control: max-stale=x | 15 | forward",
        "5.2.1.2 | 200; Cache-Control: max-age=10 | GET; Cache-Control: max-age=12, max-stale=5 | 12 | stale 12",
        "5.2.1.2 | 200; Cache-Control: max-age=10 | GET; Cache-Control: max-age=12, max-stale=5 | 13 | forward",
        "5.2.1.3 | 200; Cache-Control: max-age=10; ETag: \"a\" | GET; Cache-Control: min-fresh=4 | 6 | fresh 6",
        "5.2.1.3 | 200; Cache-Control: max-age=10; ETag: \"a\" | GET; Cache-Control: min-fresh=4 | 6.1 | validate",
        "5.2.1.3 | 200; Cache-Control: max-age=10; ETag: \"a\" | GET; Cache-Control: min-fresh=20 | 0 | validate",
        "5.2.1.3 | 200; Cache-Control: max-age=10; ETag: \"a\" | GET; Cache-Control: min-fresh=x | 0 | validate",
        "5.2.1.4 | 200; Cache-Control: max-age=10; ETag: \"a\" | GET; Cache-Control: no-cache | 0 | validate",
        "5.2.1.4 | 200; Cache-Control: max-age=10 | GET; Cache-Control: No-Cache | 0 | forward",
        "5.4 | 200; Cache-Control: max-age=10; ETag: \"a\" | GET; Pragma: no-cache | 0 | validate",
        "5.4 | 200; Cache-Control: max-age=10; ETag: \"a\" | GET; Pragma: foo, No-Cache | 0 | validate",
        "5.4 | 200; Cache-Control: max-age=10; ETag: \"a\" | GET; Pragma: foo | 0 | fresh 0",
        "5.4 | 200; Cache-Control: max-age=10; ETag: \"a\" | GET; Pragma: no-cache; Cache-Control: a | 0 | fresh 0",
        "5.2.1.5 | 200; Cache-Control: max-age=10; ETag: \"a\" | GET; Cache-Control: no-store | 0 | forward",
        "5.2.1.7 | 200; Cache-Control: max-age=10; ETag: \"a\" | GET; Cache-Control: only-if-cached | 9 | fresh 9",
        "5.2.1.7 | 200; Cache-Control: max-age=10; ETag: \"a\" | GET; Cache-Control: only-if-cached | 10 | 504",
        "5.2.1.7 | 200; Cache-Control: max-age=10 | GET; Cache-Control: only-if-cached, max-stale | 99 | stale 99",
        "5.2.1.7 | 200; Cache-Control: max-age=10 | GET; Cache-Control: only-if-cached, max-stale=5 | 99 | 504",
        "5.2.1.7 | 200; Cache-Control: max-age=1, stale-while-revalidate=9 | GET; Cache-Control: only-if-cached | 5 | stale 5",
        "5.2.1.7 | 200; Cache-Control: max-age=10 | POST; Cache-Control: only-if-cached | 0 | 504",
        // Stale responses.
        "5861 3 | 200; Cache-Control: max-age=1, stale-while-revalidate=9 | GET | 2 | stale 2 +",
        "5861 3 | 200; Cache-Control: max-age=1, stale-while-revalidate=9 | GET | 9.9 | stale 9 +",
        "5861 3 | 200; Cache-Control: max-age=1, stale-while-revalidate=9 | GET | 10 | forward",
        "5861 3 | 200; Cache-Control: max-age=1, stale-while-revalidate=9; ETag: \"a\" | GET | 10 | validate",
        "5861 3 | 200; Cache-Control: max-age=1, stale-while-revalidate | GET | 2 | forward",
        "5861 3 | 200; Cache-Control: max-age=1, stale-while-revalidate=x | GET | 2 | forward",
        "5861 3 | 200; Cache-Control: max-age=1, stale-while-revalidate=9 | GET; Cache-Control: max-age=0 | 2 | forward",
        "5861 3 | 200; Cache-Control: max-age=1, stale-while-revalidate=9 | GET; Cache-Control: no-cache | 2 | forward",
        "5861 3 | 200; Cache-Control: max-age=1, stale-while-revalidate=9 | GET; Cache-Control: min-fresh=0 | 2 | forward",
        "5861 3 | 200; Cache-Control: no-cache, max-age=1, stale-while-revalidate=9 | GET | 2 | forward",
        "5861 3 | 200; Expires: @1; Cache-Control: stale-while-revalidate=9 | HEAD | 2 | stale 2 +",
        "5861 4 | 200; Cache-Control: max-age=1, stale-if-error=9 | GET | 2 | forward or stale 2",
        "5861 4 | 200; Cache-Control: max-age=1, stale-if-error=9; ETag: \"a\" | GET | 2 | validate or stale 2",
        "5861 4 | 200; Cache-Control: max-age=1, stale-if-error=9 | GET | 10 | forward",
        "5861 4 | 200; Cache-Control: max-age=1 | GET; Cache-Control: stale-if-error=9 | 2 | forward or stale 2",
        "5861 4 | 200; Cache-Control: max-age=1 | GET; Cache-Control: stale-if-error=9 | 10 | forward",
        "5861 4 | 200; Cache-Control: max-age=1, stale-if-error=9 | GET; Cache-Control: no-cache | 2 | forward",
        "5861 4 | 200; Cache-Control: max-age=1, stale-if-error=9 | GET; Cache-Control: max-age=0 | 2 | forward",
        "5861 4 | 200; Cache-Control: no-cache, max-age=1, stale-if-error=9 | GET | 2 | forward",
        "4.2.4 | 200; Cache-Control: max-age=1 | GET | 2 | forward",
        // Validation.
        "4.3.1 | 200; Cache-Control: max-age=1; ETag: \"a\" | GET | 2 | validate",
        "4.3.1 | 200; Cache-Control: max-age=1; ETag: W/\"a\" | GET | 2 | validate",
        "4.3.1 | 200; Cache-Control: max-age=1; Last-Modified: @-10 | GET | 2 | validate",
        "4.3.1 | 200; Cache-Control: max-age=1; ETag:  | GET | 2 | forward",
        "4.3.1 | 404; Cache-Control: max-age=1; ETag: \"a\" | GET | 2 | validate",
        "4.3.1 | 200; Cache-Control: max-age=1; ETag: \"a\" | HEAD | 2 | validate",
        // The client's own conditions.
        "4.3.2 | 200; Cache-Control: max-age=9; ETag: \"a\" | GET; If-None-Match: \"a\" | 2 | 304 fresh 2",
        "4.3.2 | 200; Cache-Control: max-age=9; ETag: \"a\" | HEAD; If-None-Match: \"a\" | 2 | 304 fresh 2",
        "4.3.2 | 200; Cache-Control: max-age=9; ETag: \"a\" | GET; If-None-Match: W/\"a\" | 2 | 304 fresh 2",
        "4.3.2 | 200; Cache-Control: max-age=9; ETag: W/\"a\" | GET; If-None-Match: \"a\" | 2 | 304 fresh 2",
        "4.3.2 | 200; Cache-Control: max-age=9; ETag: W/\"a\" | GET; If-None-Match: W/\"a\" | 2 | 304 fresh 2",
        "4.3.2 | 200; Cache-Control: max-age=9; ETag: \"a\" | GET; If-None-Match: \"b\" | 2 | fresh 2",
        "4.3.2 | 200; Cache-Control: max-age=9; ETag: \"a\" | GET; If-None-Match: \"b\", \"a\" | 2 | 304 fresh 2",
        "4.3.2 | 200; Cache-Control: max-age=9; ETag: \"a\" | GET; If-None-Match: \"a\", \"c\" | 2 | 304 fresh 2",
        "4.3.2 | 200; Cache-Control: max-age=9; ETag: \"a\" | GET; If-None-Match: \"b\"; If-None-Match: \"a\" | 2 | 304 fresh 2",
        "4.3.2 | 200; Cache-Control: max-age=9; ETag: \"a,b\" | GET; If-None-Match: \"c\", \"a,b\" | 2 | 304 fresh 2",
        "4.3.2 | 200; Cache-Control: max-age=9; ETag: \"a\" | GET; If-None-Match: * | 2 | 304 fresh 2",
        "4.3.2 | 200; Cache-Control: max-age=9 | GET; If-None-Match: \"a\" | 2 | fresh 2",
        "4.3.2 | 404; Cache-Control: max-age=9; ETag: \"a\" | GET; If-None-Match: \"a\" | 2 | fresh 2",
        "4.3.2 | 200; Cache-Control: max-age=9; Last-Modified: @-10 | GET; If-Modified-Since: @-10 | 2 | 304 fresh 2",
        "4.3.2 | 200; Cache-Control: max-age=9; Last-Modified: @-10 | GET; If-Modified-Since: @-9 | 2 | 304 fresh 2",
        "4.3.2 | 200; Cache-Control: max-age=9; Last-Modified: @-10 | GET; If-Modified-Since: @-11 | 2 | fresh 2",
        "4.3.2 | 200; Cache-Control: max-age=9; Last-Modified: @-10 | GET; If-Modified-Since: now | 2 | fresh 2",
        "4.3.2 | 200; Cache-Control: max-age=9; Date: @-3 | GET; If-Modified-Since: @-3 | 2 | 304 fresh 5",
        "4.3.2 | 200; Cache-Control: max-age=9; Date: @-3 | GET; If-Modified-Since: @-4 | 2 | fresh 5",
        "4.3.2 | 200; Cache-Control: max-age=9; Last-Modified: @-10; ETag: \"a\" | GET; If-Modified-Since: @-90; If-None-Match: \"a\" | 2 | 304 fresh 2",
        "4.3.2 | 200; Cache-Control: max-age=9; Last-Modified: @-10; ETag: \"a\" | GET; If-Modified-Since: @-9; If-None-Match: \"b\" | 2 | fresh 2",
        "4.3.2 | 200; Cache-Control: max-age=1; ETag: \"a\" | GET; If-None-Match: \"b\" | 2 | forward",
        "4.3.2 | 200; Cache-Control: max-age=1; ETag: \"a\" | GET; If-Modified-Since: @0 | 2 | forward",
        "4.3.2 | 200; Cache-Control: max-age=9; ETag: \"a\" | GET; If-Match: \"a\" | 2 | forward",
        "4.3.2 | 200; Cache-Control: max-age=9; ETag: \"a\" | GET; If-Unmodified-Since: @0 | 2 | forward",
        // Parts.
        "3.3 | 200; Cache-Control: max-age=9 | GET; Range: bytes=0-1 | 2 | 206 0-1 fresh 2",
        "3.3 | 200; Cache-Control: max-age=9 | GET; Range: bytes=3- | 2 | 206 3-9 fresh 2",
        "3.3 | 200; Cache-Control: max-age=9 | GET; Range: bytes=-3 | 2 | 206 7-9 fresh 2",
        "3.3 | 200; Cache-Control: max-age=9 | GET; Range: bytes=-30 | 2 | 206 0-9 fresh 2",
        "3.3 | 200; Cache-Control: max-age=9 | GET; Range: bytes=8-30 | 2 | 206 8-9 fresh 2",
        "3.3 | 200; Cache-Control: max-age=9 | GET; Range: Bytes=0-1 | 2 | 206 0-1 fresh 2",
        "3.3 | 200; Cache-Control: max-age=9 | GET; Range: bytes=10- | 2 | forward",
        "3.3 | 200; Cache-Control: max-age=9 | GET; Range: bytes=2-1 | 2 | forward",
        "3.3 | 200; Cache-Control: max-age=9 | GET; Range: bytes=0-1, 4-5 | 2 | forward",
        "3.3 | 200; Cache-Control: max-age=9 | GET; Range: lines=0-1 | 2 | forward",
        "3.3 | 200; Cache-Control: max-age=9 | HEAD; Range: bytes=0-1 | 2 | fresh 2",
        "3.3 | 200; Cache-Control: max-age=9; Content-Encoding: gzip | GET; Range: bytes=0-1 | 2 | forward",
        "3.3 | 404; Cache-Control: max-age=9 | GET; Range: bytes=0-1 | 2 | forward",
        "3.3 | 200; Cache-Control: max-age=1 | GET; Range: bytes=0-1 | 2 | forward",
        "3.3 | 200; Cache-Control: max-age=1; ETag: \"a\" | GET; Range: bytes=0-1 | 2 | forward",
        "3.3 | 200; Cache-Control: max-age=1, stale-if-error=9 | GET; Range: bytes=0-1 | 2 | forward or 206 0-1 stale 2",
        "3.3 | 200; Cache-Control: max-age=9; ETag: \"a\" | GET; Range: bytes=0-1; If-Range: \"a\" | 2 | 206 0-1 fresh 2",
        "3.3 | 200; Cache-Control: max-age=9; ETag: \"a\" | GET; Range: bytes=0-1; If-Range: \"b\" | 2 | fresh 2",
        "3.3 | 200; Cache-Control: max-age=9; ETag: W/\"a\" | GET; Range: bytes=0-1; If-Range: W/\"a\" | 2 | fresh 2",
        "3.3 | 200; Cache-Control: max-age=9; Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT; Date: @0 | GET; Range: bytes=0-1; If-Range: Sun, 06 Nov 1994 08:49:37 GMT | 2 | 206 0-1 fresh 2",
        "3.3 | 200; Cache-Control: max-age=9; Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT; Date: @0 | GET; Range: bytes=0-1; If-Range: Sun, 06 Nov 1994 08:49:36 GMT | 2 | fresh 2",
        "3.3 | 200; Cache-Control: max-age=9; Last-Modified: @0; Date: @0 | GET; Range: bytes=0-1; If-Range: @0 | 2 | fresh 2",
        "3.3 | 200; Cache-Control: max-age=9; ETag: \"a\" | GET; Range: bytes=0-1; If-None-Match: \"a\" | 2 | forward",
    ])
    func `a stored response is used as the standard says`(row: String) throws {
        let columns = RulesTable.columns(row)
        let head = try #require(RulesTable.stored(columns[1]), "not stored")
        let now = try RulesTable.instant(after: #require(Double(columns[3])))
        let decision = ReuseRules.decide(RulesTable.request(columns[2]), head, now: now)
        #expect(RulesTable.text(decision) == columns[4])
    }

    // section | stored 206 to a range that it answers | request | decision, two seconds after its arrival
    @Test(arguments: [
        "3.3 | 206; Cache-Control: max-age=9; Content-Range: bytes 4-8/20 | GET; Range: bytes=4-8 | 206 4-8 fresh 2",
        "3.3 | 206; Cache-Control: max-age=9; Content-Range: bytes 4-8/20 | GET; Range: bytes=5-6 | 206 5-6 fresh 2",
        "3.3 | 206; Cache-Control: max-age=9; Content-Range: bytes 4-8/20 | GET; Range: bytes=3-6 | forward",
        "3.3 | 206; Cache-Control: max-age=9; Content-Range: bytes 4-8/20 | GET; Range: bytes=5-9 | forward",
        "3.3 | 206; Cache-Control: max-age=9; Content-Range: bytes 4-8/20 | GET; Range: bytes=4- | forward",
        "3.3 | 206; Cache-Control: max-age=9; Content-Range: bytes 4-8/20 | GET | forward",
        "3.3 | 206; Cache-Control: max-age=9; Content-Range: bytes 4-8/20 | HEAD | forward",
        "3.3 | 206; Cache-Control: max-age=9; Content-Range: bytes 15-19/20 | GET; Range: bytes=-2 | 206 18-19 fresh 2",
        "3.3 | 206; Cache-Control: max-age=9; Content-Range: bytes 15-19/20 | GET; Range: bytes=16- | 206 16-19 fresh 2",
        "3.3 | 206; Cache-Control: max-age=9; Content-Range: bytes 15-19/20 | GET; Range: bytes=-6 | forward",
        "3.3 | 206; Cache-Control: max-age=1; Content-Range: bytes 4-8/20; ETag: \"a\" | GET; Range: bytes=4-8 | forward",
        "3.3 | 206; Cache-Control: max-age=9; Content-Range: bytes 0-19/20 | GET | fresh 2",
        "3.4 | 206; Cache-Control: max-age=9; Content-Range: bytes 0-8/20; ETag: \"a\" | GET | complete 9 \"a\"",
        "3.4 | 206; Cache-Control: max-age=1; Content-Range: bytes 0-8/20; ETag: \"a\" | GET | complete 9 \"a\"",
        "3.4 | 206; Cache-Control: max-age=9; Content-Range: bytes 0-8/20; ETag: W/\"a\" | GET | forward",
        "3.4 | 206; Cache-Control: max-age=9; Content-Range: bytes 0-8/20 | GET | forward",
        "3.4 | 206; Cache-Control: max-age=9; Content-Range: bytes 0-8/20; ETag: \"a\" | HEAD | forward",
        "3.4 | 206; Cache-Control: max-age=9; Content-Range: bytes 0-8/20; ETag: \"a\" | GET; If-None-Match: \"a\" | forward",
        "3.4 | 206; Cache-Control: max-age=9; Content-Range: bytes 0-8/20; ETag: \"a\" | GET; Cache-Control: only-if-cached | 504",
        "3.4 | 206; Cache-Control: max-age=9; Content-Range: bytes 1-8/20; ETag: \"a\" | GET | forward",
    ])
    func `parts answer for their bytes`(row: String) throws {
        let columns = RulesTable.columns(row)
        let bytes = columns[1].components(separatedBy: "bytes ")[1].components(separatedBy: "/")[0]
        let head = try #require(RulesTable.stored(columns[1], to: "GET; Range: bytes=\(bytes)"), "not stored")
        let decision = ReuseRules.decide(RulesTable.request(columns[2]), head, now: RulesTable.instant(after: 2))
        #expect(RulesTable.text(decision) == columns[3])
    }

    @Test func `without a stored response, the request is forwarded or can't be answered`() {
        let now = RulesTable.instant(after: 0)
        #expect(ReuseRules.decide(RulesTable.request("GET"), nil, now: now) == .forward(nil))
        let cached = RulesTable.request("GET; Cache-Control: only-if-cached")
        #expect(ReuseRules.decide(cached, nil, now: now) == .unavailable)
    }

    @Test(
        arguments: [
            (.standard, 2, "fresh 2"), (.standard, 20, "validate"), (.validate, 2, "validate"),
            (.reload, 2, "validate"),
            (.onlyCached, 2, "fresh 2"), (.onlyCached, 20, "504"), (.anyAge, 2, "fresh 2"),
            (.anyAge, 1_000_000, "stale 1000000"), (.bypass, 2, "forward"),
        ] as [(CachePolicy, Double, String)]
    )
    func `a policy says what directives say`(policy: CachePolicy, seconds: Double, expected: String) {
        let head = RulesTable.stored("200; Cache-Control: max-age=10; ETag: \"a\"")
        let decision = ReuseRules.decide(
            CacheRequest(.get, [:], policy),
            head,
            now: RulesTable.instant(after: seconds)
        )
        #expect(RulesTable.text(decision) == expected)
    }

    @Test func `stale responses stand for errors where the cache was told so`() throws {
        func decision(_ response: String, _ request: String = "GET") -> String {
            RulesTable.text(
                ReuseRules.decide(
                    RulesTable.request(request),
                    RulesTable.stored(response),
                    now: RulesTable.instant(after: 20),
                    servesErrors: true
                )
            )
        }
        #expect(decision("200; Cache-Control: max-age=10") == "forward or stale 20")
        #expect(decision("200; Cache-Control: max-age=10, must-revalidate") == "forward")
        #expect(decision("200; Cache-Control: max-age=10, no-cache") == "forward")
        #expect(decision("200; Cache-Control: max-age=10", "GET; Cache-Control: max-age=0") == "forward")
    }

    @Test func `a response that was waited for needs no lifetime`() {
        func decision(_ response: String, _ request: String = "GET") -> String {
            RulesTable.text(
                ReuseRules.decide(
                    RulesTable.request(request),
                    RulesTable.stored(response),
                    now: RulesTable.instant(after: 1),
                    isJustFetched: true
                )
            )
        }
        #expect(decision("200; Cache-Control: max-age=0; ETag: \"a\"") == "stale 1")
        #expect(decision("200; Cache-Control: max-age=9", "GET; Cache-Control: max-age=0") == "fresh 1")
        #expect(decision("200; Cache-Control: no-cache; ETag: \"a\"") == "validate")
        #expect(decision("200; Cache-Control: max-age=9", "GET; Cache-Control: no-cache") == "forward")
    }

    @Test func `the time that a response took counts as age`() {
        let head = RulesTable.stored("200; Cache-Control: max-age=10; Age: 3", delay: 4)
        let decision = ReuseRules.decide(RulesTable.request("GET"), head, now: RulesTable.instant(after: 1))
        #expect(RulesTable.text(decision) == "fresh 8")
    }

    @Test func `a wall clock that was set back, and one that stood still`() throws {
        let head = try #require(RulesTable.stored("200; Cache-Control: max-age=10; ETag: \"a\""))
        var now = RulesTable.instant(after: 5)
        now.wall -= 3_600_000
        #expect(ReuseRules.decide(RulesTable.request("GET"), head, now: now) == .validate(nil))
        now = RulesTable.instant(after: 20)
        now.wall = head.responseTime.wall
        #expect(ReuseRules.decide(RulesTable.request("GET"), head, now: now) == .validate(nil))
        // Without the steady clock, of which an entry from the disk knows nothing, the wall clock counts.
        now.steady = nil
        #expect(RulesTable.text(ReuseRules.decide(RulesTable.request("GET"), head, now: now)) == "fresh 0")
    }
}
