#if canImport(FoundationNetworking)
import Foundation
import TestSupport
import Testing

@testable import DeferredNetworking

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct FileBodiesTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private func read(_ stream: FileStream, upTo count: Int = 4) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        let result = stream.read(&bytes, maxLength: count)
        return result < 0 ? nil : Array(bytes.prefix(result))
    }

    @Test func `a stream has the bytes that the file had at first`() throws {
        let stream = FileStream(try folder.write("hello", to: "file"))
        try FileHandle(forWritingTo: folder.file).write(contentsOf: Data("hello world".utf8))
        stream.open()
        #expect(stream.length == 5 && stream.hasBytesAvailable)
        #expect(read(stream) == Array("hell".utf8) && read(stream) == Array("o".utf8) && read(stream) == [])
        #expect(stream.streamStatus == .atEnd)
    }

    @Test func `an empty file is at its end at once`() throws {
        let stream = FileStream(try folder.write("", to: "file"))
        stream.open()
        #expect(stream.streamStatus == .atEnd && !stream.hasBytesAvailable)
        #expect(read(stream) == [])
    }

    @Test func `a file that is shorter by now fails, and so does one that is missing`() throws {
        let shorter = FileStream(try folder.write("hello", to: "file"))
        try Data("he".utf8).write(to: folder.file)
        let missing = FileStream(folder.url.appending(path: "missing"))
        for stream in [shorter, missing] {
            stream.open()
            while let bytes = read(stream), !bytes.isEmpty {}
            #expect(stream.streamStatus == .error && stream.streamError != nil)
            #expect(read(stream) == nil)
            #expect((stream.streamError as? CocoaError)?.filePath != nil)
        }
    }
}
#endif
