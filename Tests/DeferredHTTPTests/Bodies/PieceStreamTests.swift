import Foundation
import TestSupport
import Testing

@testable import DeferredHTTP

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct PieceStreamTests {
    private func readAll(_ stream: InputStream, _ sizes: [Int]) -> Data {
        var (result, buffer) = (Data(), [UInt8](repeating: 0, count: 16))
        stream.open()
        for size in sizes {
            let count = stream.read(&buffer, maxLength: size)
            result += buffer.prefix(max(0, count))
        }
        return result
    }

    @Test func `reading nothing loses nothing`() {
        let stream = PieceStream([.data(Data("abc".utf8)), .data(Data("def".utf8))])
        #expect(readAll(stream, [0, 2, 0, 0, 2, 0, 4, 0, 4]) == Data("abcdef".utf8))
        #expect(stream.streamStatus == .atEnd && stream.streamError == nil)
    }

    @Test func `a file that can't be read fails, and the pieces after it are not sent in its place`() throws {
        let folder = try TemporaryDirectory()
        let stream = PieceStream([.data(Data("abc".utf8)), .file(folder.file), .data(Data("def".utf8))])
        #expect(readAll(stream, [4]) == Data("abc".utf8))
        var byte: UInt8 = 0
        for size in [1, 0, 1] { #expect(stream.read(&byte, maxLength: size) == -1) }
        #expect(stream.streamStatus == .error && stream.streamError != nil)
    }

    @Test func `it has the properties that a session reads from a stream`() {
        let stream = PieceStream([.data(Data("abc".utf8))])
        stream.schedule(in: .current, forMode: .default)
        stream.remove(from: .current, forMode: .default)
        #expect(stream.property(forKey: .fileCurrentOffsetKey) == nil && stream.delegate == nil)
        stream.open()
        stream.close()
        stream.open()
        #expect(stream.streamStatus == .closed, "a closed stream stays closed")
    }

    @Test func `a body from an asynchronous sequence has no input stream`() {
        let stream = HTTPBody.stream { AsyncStream<Data> { $0.finish() } }.makeStream()
        var byte: UInt8 = 0
        stream.open()
        #expect(stream.read(&byte, maxLength: 1) == -1)
        #expect(stream.streamError.map { "\($0)" }?.contains("use makeByteStream()") == true)
    }

    @Test(arguments: [("edge", "edge"), ("a b", "\"a b\""), ("a:b", "\"a:b\""), ("a\"\\", "\"a\\\"\\\\\"")])
    func `a boundary that needs quotation marks has them`(boundary: String, parameter: String) {
        let body = HTTPBody.multipart([.init(name: "a", text: "b")], boundary: boundary)
        #expect(body.contentType == "multipart/form-data; boundary=" + parameter)
    }
}
