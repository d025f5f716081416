#if os(Linux)
import CLibcurl
import Foundation
import TestSupport
import Testing

@testable import DeferredNetworking

@Suite("Poll set", .ownThread, .timeLimit(.minutes(1)))
struct PollSetTests {
    /// A set, and a connected pair of sockets.
    private final class Subject {
        private struct Failure: Error {}

        let set: poll_set
        var near: Int32
        let far: Int32

        init() throws {
            guard let set = poll_set_create() else { throw Failure() }
            self.set = set
            (near, far) = try Self.pair()
        }

        deinit {
            poll_set_destroy(set)
            close(near)
            close(far)
        }

        static func pair() throws -> (Int32, Int32) {
            var pair: [Int32] = [-1, -1]
            guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0 else { throw Failure() }
            return (pair[0], pair[1])
        }

        func send() { _ = write(far, "x", 1) }

        func read() {
            var byte: UInt8 = 0
            _ = Foundation.read(near, &byte, 1)
        }

        /// What is ready now, in words.
        var ready: [String] {
            var ready = [poll_ready](repeating: poll_ready(), count: Int(POLL_SET_MOST_EVENTS))
            let count = Int(poll_set_wait(set, &ready, 0))
            return ready[..<count].map { ready in
                let name = ready.descriptor == near ? "near" : "\(ready.descriptor)"
                return "\(name) of \(ready.owner), \(ready.mask)\(ready.is_idle ? ", idle" : "")"
            }
        }

        func watch(_ owner: UInt32 = 1, _ what: Int32 = Int32(CURL_POLL_IN)) -> Int32 {
            poll_set_watch(set, near, owner, what)
        }
    }

    @Test func `a descriptor is ready for what it is watched for, until it is removed`() throws {
        let subject = try Subject()
        #expect(subject.watch() == 0 && subject.ready == [])
        subject.send()
        #expect(subject.ready == ["near of 1, 1"] && subject.ready == ["near of 1, 1"])
        #expect(subject.watch(2, Int32(CURL_POLL_IN | CURL_POLL_OUT)) == 0 && subject.ready == ["near of 2, 3"])
        #expect(subject.watch(2, Int32(CURL_POLL_OUT)) == 0 && subject.ready == ["near of 2, 2"])
        poll_set_remove(subject.set, subject.near)
        poll_set_remove(subject.set, subject.near)
        #expect(subject.ready == [])
        #expect(subject.watch() == 0 && subject.ready == ["near of 1, 1"])
    }

    @Test(arguments: [CURL_POLL_IN, CURL_POLL_OUT, CURL_POLL_IN | CURL_POLL_OUT].map { Int32($0) })
    func `an idle one is watched for input, and then again for what is asked for`(what: Int32) throws {
        let subject = try Subject()
        #expect(subject.watch(1, what) == 0)
        poll_set_watch_idle(subject.set, subject.near)
        #expect(subject.ready == [])
        subject.send()
        #expect(subject.ready == ["near of 1, 1, idle"])
        subject.read()
        for next in [CURL_POLL_IN, CURL_POLL_OUT].map({ Int32($0) }) {
            #expect(subject.watch(1, next) == 0)
            subject.send()
            #expect(subject.ready == ["near of 1, \(next)"])
            subject.read()
            poll_set_watch_idle(subject.set, subject.near)
            #expect(subject.ready == [])
        }
        // Of another owner it is told as such.
        #expect(subject.watch(7) == 0)
        subject.send()
        #expect(subject.ready == ["near of 7, 1"])
    }

    @Test func `an idle one can rest, until it is resumed, watched or removed`() throws {
        let subject = try Subject()
        // Only an idle one rests, and only one that rests is resumed.
        #expect(subject.watch() == 0)
        subject.send()
        poll_set_rest_idle(subject.set, subject.near)
        #expect(subject.ready == ["near of 1, 1"])
        poll_set_resume_idle(subject.set, subject.near)
        #expect(subject.ready == ["near of 1, 1"])
        poll_set_watch_idle(subject.set, subject.near)
        poll_set_resume_idle(subject.set, subject.near)
        #expect(subject.ready == ["near of 1, 1, idle"])

        for _ in 0..<2 { poll_set_rest_idle(subject.set, subject.near) }
        #expect(subject.ready == [])
        for _ in 0..<2 { poll_set_resume_idle(subject.set, subject.near) }
        #expect(subject.ready == ["near of 1, 1, idle"])

        poll_set_rest_idle(subject.set, subject.near)
        #expect(subject.watch() == 0 && subject.ready == ["near of 1, 1"])
        poll_set_resume_idle(subject.set, subject.near)
        #expect(subject.ready == ["near of 1, 1"])

        poll_set_watch_idle(subject.set, subject.near)
        poll_set_rest_idle(subject.set, subject.near)
        poll_set_remove(subject.set, subject.near)
        poll_set_resume_idle(subject.set, subject.near)
        #expect(subject.ready == [])
        // Whoever gets the number of a closed one is not resumed.
        #expect(subject.watch() == 0)
        poll_set_watch_idle(subject.set, subject.near)
        poll_set_rest_idle(subject.set, subject.near)
        poll_set_sever(subject.set, subject.near)
        poll_set_resume_idle(subject.set, subject.near)
        #expect(subject.ready == [])
    }

    @Test func `one that is not in the set does not become idle`() throws {
        let subject = try Subject()
        poll_set_watch_idle(subject.set, subject.near)
        subject.send()
        #expect(subject.ready == [])
        #expect(subject.watch() == 0 && subject.ready == ["near of 1, 1"])
    }

    @Test(arguments: [true, false])
    func `the number of one that was closed can be watched anew`(isKnown: Bool) throws {
        let subject = try Subject()
        #expect(subject.watch() == 0)
        if isKnown {
            poll_set_watch_idle(subject.set, subject.near)
            #expect(poll_set_close(UnsafeMutableRawPointer(subject.set), subject.near) == 0)
        } else {
            // As libcurl does with those of its resolver.
            close(subject.near)
        }
        let (first, second) = try Subject.pair()
        defer { close(second) }
        // Under the number that has become free, whichever the pair has got.
        if first != subject.near {
            #expect(dup2(first, subject.near) == subject.near)
            close(first)
        }
        _ = write(second, "x", 1)
        #expect(subject.ready == [])
        #expect(subject.watch() == 0 && subject.ready == ["near of 1, 1"])
    }

    @Test func `a severed one is open, and at its end`() throws {
        let subject = try Subject()
        #expect(subject.watch() == 0)
        poll_set_watch_idle(subject.set, subject.near)
        subject.send()
        poll_set_sever(subject.set, subject.near)
        var byte: UInt8 = 0
        #expect(subject.ready == [] && Foundation.read(subject.near, &byte, 1) == 0)
    }
}
#endif
