import Foundation
import TestSupport
import Testing

@testable import DeferredNetworking

@Suite("Stream state machine", .ownThread, .timeLimit(.minutes(1)))
struct StreamStateMachineTests {
    private struct Failure: Error {}

    /// Reads what is there, and says how it ends: nil for a wait.
    private func drain(_ machine: inout StreamStateMachine) -> (bytes: Data, isAtEnd: Bool, failed: Bool) {
        var result = Data()
        while true {
            switch machine.next() {
            case .bytes(let bytes):
                #expect(!bytes.isEmpty)
                result += bytes
            case .end(let error): return (result, true, error != nil)
            case .wait: return (result, false, false)
            }
        }
    }

    @Test(arguments: [0, 1, 10, 1_000, 1 << 20])
    func `bytes come out as they went in, whatever part of them waits in the file`(limit: Int) throws {
        for seed in 0..<30 {
            var random = SeededGenerator(seed: UInt64(seed))
            var machine = StreamStateMachine(memoryLimit: limit)
            var (sent, received) = (Data(), Data())
            for _ in 0..<100 {
                if random.next() % 3 > 0 {
                    let piece = Data((0..<random.next() % 400).map { UInt8(truncatingIfNeeded: $0 &+ random.next()) })
                    try machine.append(piece)
                    sent += piece
                } else if random.next() % 4 == 0 {
                    received += drain(&machine).bytes
                } else if case .bytes(let bytes) = machine.next() {
                    received += bytes
                }
            }
            machine.finish(nil)
            let rest = drain(&machine)
            #expect(received + rest.bytes == sent)
            #expect(rest.isAtEnd && !rest.failed)
        }
    }

    @Test func `an error comes after the bytes before it, and the first end counts`() throws {
        var machine = StreamStateMachine(memoryLimit: 3)
        try machine.append(Data("abc".utf8))
        try machine.append(Data("def".utf8))
        machine.finish(Failure())
        machine.finish(nil)
        try machine.append(Data("too late".utf8))
        let (bytes, isAtEnd, failed) = drain(&machine)
        #expect(String(decoding: bytes, as: UTF8.self) == "abcdef")
        #expect(isAtEnd && failed)
        #expect(drain(&machine).failed)
    }

    @Test func `what was thrown away is not read`() throws {
        var machine = StreamStateMachine(memoryLimit: 3)
        try machine.append(Data("abc".utf8))
        try machine.append(Data("def".utf8))
        machine.discard()
        let (bytes, isAtEnd, failed) = drain(&machine)
        #expect(bytes.isEmpty && isAtEnd && failed)
    }
}
