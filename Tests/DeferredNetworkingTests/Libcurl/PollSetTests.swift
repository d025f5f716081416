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

        convenience init() throws {
            let (near, far) = try Self.pair()
            try self.init(connecting: near, to: far)
        }

        init(connecting near: Int32, to far: Int32) throws {
            guard let set = poll_set_create() else { throw Failure() }
            (self.set, self.near, self.far) = (set, near, far)
        }

        deinit {
            poll_set_destroy(set)
            close(near)
            close(far)
        }

        /// Makes a subject with a connection of the loopback interface, and tells its ports.
        static func connected() throws -> (subject: Subject, port: Int32, remotePort: Int32) {
            func withAddress(
                _ body: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32
            ) throws -> Int32 {
                var address = sockaddr_in()
                address.sin_family = sa_family_t(AF_INET)
                address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
                var size = socklen_t(MemoryLayout<sockaddr_in>.size)
                let code = withUnsafeMutablePointer(to: &address) { address in
                    address.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, &size) }
                }
                guard code >= 0 else { throw Failure() }
                return Int32(UInt16(bigEndian: address.sin_port))
            }
            let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            defer { close(listener) }
            _ = try withAddress { bind(listener, $0, $1.pointee) }
            guard listen(listener, 1) == 0 else { throw Failure() }
            let near = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            let remotePort = try withAddress { getsockname(listener, $0, $1) }
            _ = try withAddress { address, size in
                address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                    $0.pointee.sin_port = UInt16(remotePort).bigEndian
                }
                return connect(near, address, size.pointee)
            }
            let far = accept(listener, nil, nil)
            return (try Subject(connecting: near, to: far), try withAddress { getsockname(near, $0, $1) }, remotePort)
        }

        var isSevered: Bool {
            var byte: UInt8 = 0
            // The end comes without bytes before it.
            return recv(near, &byte, 1, Int32(MSG_DONTWAIT | MSG_PEEK)) == 0
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
        poll_set_close_idle(subject.set, subject.near)
        poll_set_resume_idle(subject.set, subject.near)
        #expect(subject.ready == [])
    }

    private enum State: CaseIterable {
        case unknown, watched, idle, resting, watchedAgain, removed
    }

    @Test(arguments: State.allCases, [false, true])
    private func `a look closes an idle connection on which something has come`(state: State, hasMore: Bool) throws {
        for (isSent, isOther) in [(false, false), (true, false), (false, true), (true, true)] {
            let (subject, port, remotePort) = try Subject.connected()
            if state != .unknown { _ = subject.watch() }
            if [.idle, .resting, .watchedAgain].contains(state) { poll_set_watch_idle(subject.set, subject.near) }
            if state == .resting { poll_set_rest_idle(subject.set, subject.near) }
            if state == .watchedAgain { _ = subject.watch() }
            if state == .removed { poll_set_remove(subject.set, subject.near) }
            if isSent {
                subject.send()
                // Until it is there.
                var byte: UInt8 = 0
                _ = recv(subject.near, &byte, 1, Int32(MSG_PEEK))
            }
            let isIdle = state == .idle || state == .resting
            // One with the same port at this side only is closed if something lies on it, and nobody can be using it.
            let mustSever = isIdle && (isOther ? state == .idle && isSent && !hasMore : isSent || hasMore)
            let host = isOther ? "127.0.0.2" : "127.0.0.1"
            // Of other ports, nothing is looked at.
            #expect(!poll_set_look(subject.set, port + 1, host, remotePort, hasMore))
            #expect(!poll_set_look(subject.set, port + 256, host, remotePort, hasMore) && !subject.isSevered)
            #expect(poll_set_look(subject.set, port, host, remotePort, hasMore) == (mustSever && !isOther))
            #expect(subject.isSevered == mustSever, "\(state), \(isSent), \(isOther)")
            #expect(!poll_set_look(subject.set, port, nil, remotePort, hasMore))
        }
    }

    @Test func `connections in one bucket are found, whichever of them are removed`() throws {
        let subject = try Subject()
        // Sockets with a path have no port, and so are all in one bucket.
        var pairs: [(Int32, Int32)] = []
        for _ in 0..<6 { pairs.append(try Subject.pair()) }
        for (near, _) in pairs {
            #expect(poll_set_watch(subject.set, near, 1, Int32(CURL_POLL_IN)) == 0)
            poll_set_watch_idle(subject.set, near)
        }
        // The first, one in the middle, and the last.
        for index in [5, 2, 0] {
            poll_set_remove(subject.set, pairs[index].0)
            _ = write(pairs[index].1, "x", 1)
        }
        _ = write(pairs[1].1, "x", 1)
        // It has no address by which it could be told from others.
        #expect(!poll_set_look(subject.set, 0, "", 0, false))
        for (index, (near, far)) in pairs.enumerated() {
            var byte: UInt8 = 0
            let count = recv(near, &byte, 1, Int32(MSG_DONTWAIT))
            #expect(count == ([5, 2, 0].contains(index) ? 1 : index == 1 ? 0 : -1), "\(index)")
            close(near)
            close(far)
        }
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

    @Test func `a connection is found by its ends for as long as it is open`() throws {
        let (subject, port, remotePort) = try Subject.connected()
        func find(_ port: Int32, _ remotePort: Int32) -> Int32 {
            poll_set_find(subject.set, port, "127.0.0.1", remotePort)
        }
        #expect(find(port, remotePort) == -1)
        poll_set_open(subject.set, subject.near)
        #expect(find(port, remotePort) == subject.near && find(port, port) == -1 && find(remotePort, remotePort) == -1)
        #expect(subject.watch() == 0)
        poll_set_remove(subject.set, subject.near)
        #expect(find(port, remotePort) == subject.near)
        #expect(poll_set_close(UnsafeMutableRawPointer(subject.set), subject.near) == 0)
        #expect(find(port, remotePort) == -1)
        subject.near = -1
    }

    @Test func `idle connections to an address are found, if they are silent for long enough`() throws {
        let (subject, _, remotePort) = try Subject.connected()
        func next(_ port: Int32, owner: UInt32 = 1, silence: Int64 = 0) -> Int32 {
            poll_set_next_idle(subject.set, -1, owner, "127.0.0.1", port, silence)
        }
        #expect(subject.watch() == 0 && next(remotePort) == -1)
        poll_set_watch_idle(subject.set, subject.near)
        #expect(next(remotePort) == subject.near && next(remotePort, owner: 2) == -1 && next(remotePort - 1) == -1)
        #expect(next(remotePort, silence: 1_000_000) == -1)
        #expect(poll_set_next_idle(subject.set, subject.near, 1, "127.0.0.1", remotePort, 0) == -1)
    }

    @Test func `the descriptor of a closed connection is open, and at its end`() throws {
        let subject = try Subject()
        #expect(subject.watch() == 0)
        poll_set_watch_idle(subject.set, subject.near)
        subject.send()
        poll_set_close_idle(subject.set, subject.near)
        var byte: UInt8 = 0
        #expect(subject.ready == [] && Foundation.read(subject.near, &byte, 1) == 0)
    }
}
#endif
