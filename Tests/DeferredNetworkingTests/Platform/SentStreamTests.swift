#if canImport(FoundationNetworking)
import Foundation
import TestSupport
import Testing

@testable import DeferredNetworking

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct SentStreamTests {
    @Test(arguments: [(nil, [3, 0, -1]), (3, [3, 0, -1]), (2, [2, 0, -1]), (5, [3, -1, -1])] as [(Int64?, [Int])])
    func `a body ends once, at its announced length, and is not whole before`(length: Int64?, expected: [Int]) {
        let stream = SentStream(InputStream(data: Data("abc".utf8)), length: length)
        stream.open()
        defer { stream.close() }
        var buffer = [UInt8](repeating: 0, count: 16)
        #expect(expected.map { _ in stream.read(&buffer, maxLength: buffer.count) } == expected)
        #expect(stream.isExhausted)
    }
}
#endif
