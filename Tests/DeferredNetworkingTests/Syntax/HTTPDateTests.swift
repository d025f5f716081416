import TestSupport
import Testing

@testable import DeferredNetworking

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct HTTPDateTests {
    @Test(arguments: [
        "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
        "SUN, 06 NOV 1994 08:49:37 gmt",
    ])
    func `the three forms of the standard mean the same`(text: String) {
        #expect(HTTPDate.seconds(text, now: 1_700_000_000) == 784_111_777)
    }

    @Test(arguments: [
        "", "Sun", "Sun 06 Nov 1994 08:49:37 GMT", "Sun, 06  Nov  1994 08:49:37 GMT", "Sun, 06-Nov-1994 08:49:37 GMT",
        "Sun, 06 Nov 94 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 06 Nov 1994 8:49:37 GMT",
        "Sun, 06 Nov 1994 08:49 GMT", "Sun, 06 Nov 1994 08:49:37:00 GMT", "Sun, 6 Nov 1994 08:49:37 GMT",
        "Son, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 00 Nov 1994 08:49:37 GMT",
        "Sun, 31 Nov 1994 08:49:37 GMT", "Sun, 29 Feb 2023 08:49:37 GMT", "Sun, 29 Feb 1900 08:49:37 GMT",
        "Sun, 06 Nov 0000 08:49:37 GMT", "Sun, 06-Nov-94 08:49:37 GMT", "Sunday, 06-Nov-1994 08:49:37 GMT",
        "Sun Nov 6 08:49:37 1994", "Sun Nov  6 08:49:37 94", "Sun Nov  06 08:49:37 1994", "0", "-1", "now",
    ])
    func `anything else is no date`(text: String) {
        #expect(HTTPDate.seconds(text, now: 1_700_000_000) == nil)
    }

    @Test(
        arguments: [
            ("Thursday, 18-Aug-50 00:00:00 GMT", "Thu, 18 Aug 2050 00:00:00 GMT", 1_700_000_000),
            ("Saturday, 18-Aug-90 00:00:00 GMT", "Sat, 18 Aug 1990 00:00:00 GMT", 1_700_000_000),
            ("Sunday, 18-Aug-30 00:00:00 GMT", "Sun, 18 Aug 2130 00:00:00 GMT", 4_000_000_000),
        ] as [(String, String, Int64)]
    )
    func `a year of two digits is at most 50 years ahead`(short: String, long: String, now: Int64) {
        #expect(HTTPDate.seconds(short, now: now) == HTTPDate.seconds(long))
    }

    @Test func `days that the calendar has`() {
        #expect(HTTPDate.seconds("Thu, 29 Feb 2024 23:59:60 GMT") == 1_709_251_200)
        #expect(HTTPDate.seconds("Tue, 29 Feb 2000 00:00:00 GMT") == 951_782_400)
        #expect(HTTPDate.seconds("Fri, 31 Dec 9999 23:59:59 GMT") == 253_402_300_799)
    }
}
