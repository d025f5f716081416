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
                return "\(name) of \(ready.owner), \(ready.mask)"
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

    @Test func `each wake-up ends one wait, also one that begins later`() throws {
        let subject = try Subject()
        var ready = [poll_ready](repeating: poll_ready(), count: Int(POLL_SET_MOST_EVENTS))
        for _ in 0..<3 {
            poll_set_wake(subject.set)
            // Without the wake-up, it would wait for the suite's time limit.
            #expect(poll_set_wait(subject.set, &ready, -1) == 0)
            // Nor is it told of again.
            #expect(poll_set_wait(subject.set, &ready, 1) == 0)
        }
        for _ in 0..<3 { poll_set_wake(subject.set) }
        #expect(poll_set_wait(subject.set, &ready, -1) == 0)
    }

    @Test func `the end of an idle one is told of where that is asked for, once`() throws {
        for isAskedFor in [false, true] {
            let subject = try Subject()
            #expect(subject.watch() == 0)
            // Not of one that isn't idle.
            poll_set_tell(subject.set, subject.near)
            poll_set_watch_idle(subject.set, subject.near)
            if isAskedFor { poll_set_tell(subject.set, subject.near) }
            subject.send()
            #expect(subject.ready == (isAskedFor ? ["near of 1, 0"] : []) && subject.ready == [])
        }
    }

    @Test(arguments: [CURL_POLL_IN, CURL_POLL_OUT, CURL_POLL_IN | CURL_POLL_OUT].map { Int32($0) })
    func `an idle one is watched again for what is asked for`(what: Int32) throws {
        let subject = try Subject()
        #expect(subject.watch(1, what) == 0)
        for next in [CURL_POLL_IN, CURL_POLL_OUT].map({ Int32($0) }) {
            poll_set_watch_idle(subject.set, subject.near)
            #expect(subject.ready == [])
            #expect(subject.watch(1, next) == 0)
            subject.send()
            #expect(subject.ready == ["near of 1, \(next)"] && !subject.isSevered)
            subject.read()
        }
        // Of another owner it is told as such.
        poll_set_watch_idle(subject.set, subject.near)
        #expect(subject.watch(7) == 0)
        subject.send()
        #expect(subject.ready == ["near of 7, 1"])
    }

    @Test func `an idle one on which something comes is closed, and not told of`() throws {
        let subject = try Subject()
        #expect(subject.watch() == 0)
        poll_set_watch_idle(subject.set, subject.near)
        #expect(subject.ready == [] && !subject.isSevered)
        subject.send()
        #expect(subject.ready == [] && subject.isSevered)
        // Whoever gets its number is not idle.
        #expect(subject.watch() == 0 && subject.ready.count == 1)
    }

    @Test func `a paused one is not told of and not closed, until it is watched or idle`() throws {
        let subject = try Subject()
        // Only the socket of a connection is paused.
        #expect(subject.watch() == 0)
        subject.send()
        poll_set_pause(subject.set, subject.near)
        #expect(subject.ready == ["near of 1, 1"])
        poll_set_open(subject.set, subject.near)
        for wasIdle in [false, true] {
            if wasIdle { poll_set_watch_idle(subject.set, subject.near) }
            for _ in 0..<2 { poll_set_pause(subject.set, subject.near) }
            #expect(subject.ready == [] && !subject.isSevered)
            #expect(subject.watch() == 0 && subject.ready == ["near of 1, 1"])
            // Somebody else uses it by now.
            poll_set_end_pause(subject.set, subject.near, 0)
            #expect(subject.ready == ["near of 1, 1"])
        }
        // The number of a closed one says nothing of whoever gets it.
        poll_set_pause(subject.set, subject.near)
        poll_set_remove(subject.set, subject.near)
        poll_set_end_pause(subject.set, subject.near, 0)
        #expect(subject.ready == [] && !subject.isSevered)
        #expect(subject.watch() == 0)
        poll_set_pause(subject.set, subject.near)
        // Another connection has its descriptor by now.
        poll_set_end_pause(subject.set, subject.near, 1)
        #expect(subject.ready == [] && !subject.isSevered)
        poll_set_end_pause(subject.set, subject.near, 0)
        #expect(subject.ready == [] && subject.isSevered)
    }

    @Test func `a request that is sent on a paused connection ends the pause`() throws {
        let (subject, port, remotePort) = try Subject.connected()
        poll_set_open(subject.set, subject.near)
        #expect(subject.watch() == 0)
        poll_set_pause(subject.set, subject.near)
        #expect(!poll_set_look(subject.set, port, "127.0.0.1", remotePort, false) && subject.ready == [])
        // The end of the paused request, which comes later, doesn't make it an idle one that is watched.
        poll_set_end_pause(subject.set, subject.near, port)
        subject.send()
        #expect(subject.ready == [] && !subject.isSevered)
        #expect(subject.watch() == 0 && subject.ready == ["near of 1, 1"])
    }

    private enum State: CaseIterable {
        case unknown, watched, idle, paused, watchedAgain, removed
    }

    @Test(arguments: State.allCases, [false, true])
    private func `a look closes an idle connection on which something has come`(state: State, hasMore: Bool) throws {
        for isSent in [false, true] {
            let (subject, port, remotePort) = try Subject.connected()
            if state != .unknown { _ = subject.watch() }
            if [.idle, .paused, .watchedAgain].contains(state) { poll_set_watch_idle(subject.set, subject.near) }
            if state == .paused {
                poll_set_open(subject.set, subject.near)
                poll_set_pause(subject.set, subject.near)
            }
            if state == .watchedAgain { _ = subject.watch() }
            if state == .removed { poll_set_remove(subject.set, subject.near) }
            if isSent {
                subject.send()
                // Until it is there.
                var byte: UInt8 = 0
                _ = recv(subject.near, &byte, 1, Int32(MSG_PEEK))
            }
            // Of others, nothing is looked at.
            for (port, host, remotePort) in [
                (port + 1, "127.0.0.1", remotePort), (port + 256, "127.0.0.1", remotePort),
                (port, "127.0.0.2", remotePort), (port, "127.0.0.1", remotePort + 1), (port, nil, remotePort),
            ] {
                #expect(!poll_set_look(subject.set, port, host, remotePort, hasMore) && !subject.isSevered)
            }
            let mustClose = [.idle, .paused].contains(state) && (isSent || hasMore)
            #expect(poll_set_look(subject.set, port, "127.0.0.1", remotePort, hasMore) == mustClose)
            #expect(subject.isSevered == mustClose, "\(state), \(isSent)")
        }
    }

    @Test func `connections in one bucket are found, whichever of them are removed`() throws {
        // Their ports differ, but not in the last bits.
        var subjects: [(subject: Subject, port: Int32, remotePort: Int32)] = []
        var others: [(subject: Subject, port: Int32, remotePort: Int32)] = []
        while subjects.count < 4 {
            let new = try Subject.connected()
            if new.port % 256 == (subjects.first?.port ?? new.port) % 256 {
                subjects.append(new)
            } else {
                others.append(new)
            }
            if others.count == 200 { others = [] }
        }
        let set = subjects[0].subject.set
        for (subject, _, _) in subjects {
            #expect(poll_set_watch(set, subject.near, 1, Int32(CURL_POLL_IN)) == 0)
            poll_set_watch_idle(set, subject.near)
            subject.send()
            var byte: UInt8 = 0
            _ = recv(subject.near, &byte, 1, Int32(MSG_PEEK))
        }
        // The first of the bucket, which came last, and one in the middle.
        for index in [3, 1] { poll_set_remove(set, subjects[index].subject.near) }
        for (index, (subject, port, remotePort)) in subjects.enumerated() {
            let mustClose = ![3, 1].contains(index)
            #expect(poll_set_look(set, port, "127.0.0.1", remotePort, false) == mustClose)
            #expect(subject.isSevered == mustClose, "\(index)")
        }
    }

    @Test func `one that is not in the set does not become idle`() throws {
        let subject = try Subject()
        poll_set_watch_idle(subject.set, subject.near)
        subject.send()
        #expect(subject.ready == [])
        #expect(subject.watch() == 0 && subject.ready == ["near of 1, 1"])
    }

    // The numbers of descriptors are the process's: nobody else is to get one meanwhile.
    @Test(.alone, arguments: [true, false])
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

    @Test func `idle connections to an address are closed, if they are silent for long enough`() throws {
        let (subject, _, remotePort) = try Subject.connected()
        func closes(_ port: Int32, owner: UInt32 = 1, host: String? = "127.0.0.1", silence: Int64 = 0) -> Bool {
            poll_set_close_silent(subject.set, owner, host, port, silence)
            return subject.isSevered
        }
        #expect(subject.watch() == 0 && !closes(remotePort))
        poll_set_watch_idle(subject.set, subject.near)
        #expect(!closes(remotePort, owner: 2) && !closes(remotePort - 1) && !closes(remotePort, host: "127.0.0.2"))
        #expect(!closes(remotePort, silence: 1_000_000) && closes(remotePort))
        let (other, _, _) = try Subject.connected()
        #expect(other.watch() == 0)
        poll_set_watch_idle(other.set, other.near)
        poll_set_close_silent(other.set, 1, nil, 0, 0)
        #expect(other.isSevered)
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
