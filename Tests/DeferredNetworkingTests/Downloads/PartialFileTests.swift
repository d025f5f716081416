import Foundation
import Testing

@testable import DeferredNetworking

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Partial file", .timeLimit(.minutes(1)))
final class PartialFileTests {
    private let directory: URL
    private var destination: URL { directory.appending(path: "file") }

    init() throws {
        directory = FileManager.default.temporaryDirectory.appending(path: "PartialFileTests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: directory)
    }

    private var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted() }
    }

    private func validator(_ tag: String = "\"v1\"", total: Int64? = 10) throws -> ResumeValidator {
        try #require(ResumeValidator(contents: Data("\(tag)\n\(total.map(String.init) ?? "*")\n".utf8)))
    }

    @Test("A complete file takes the destination's name and replaces what was there", arguments: [false, true])
    func completion(isResumable: Bool) throws {
        try Data("old".utf8).write(to: destination)
        var file = try PartialFile(destination: destination, isResumable: isResumable)
        try file.restart(validator: try validator())
        try file.append(Data("hello ".utf8))
        try file.append(Data("world".utf8))
        #expect(try Data(contentsOf: destination) == Data("old".utf8))
        try file.complete()
        #expect(try Data(contentsOf: destination) == Data("hello world".utf8))
        file.abandon()
        #expect(try names == ["file"])
    }

    @Test("An abandoned file leaves nothing behind")
    func abandoning() throws {
        var file = try PartialFile(destination: destination, isResumable: false)
        try file.restart(validator: try validator())
        try file.append(Data("x".utf8))
        file.abandon()
        #expect(try names == [])
    }

    @Test("A part with a strong validator outlives a failure and is resumed")
    func resuming() throws {
        var first = try PartialFile(destination: destination, isResumable: true)
        #expect(!first.canResume)
        try first.restart(validator: try validator())
        try first.append(Data("hello".utf8))
        first.abandon()
        #expect(try names == ["file.partial", "file.partial.validator"])

        var second = try PartialFile(destination: destination, isResumable: true)
        #expect(second.canResume)
        #expect(second.length == 5)
        #expect(second.validator == (try validator()))
        try second.resume()
        try second.append(Data("world".utf8))
        try second.complete()
        #expect(try Data(contentsOf: destination) == Data("helloworld".utf8))
        #expect(try names == ["file"])
    }

    @Test("A part without a validator, or without a byte, is deleted", arguments: [(true, ""), (false, "hello")])
    func useless(hasValidator: Bool, text: String) throws {
        var file = try PartialFile(destination: destination, isResumable: true)
        try file.restart(validator: hasValidator ? try validator() : nil)
        try file.append(Data(text.utf8))
        file.abandon()
        #expect(try names == [])
    }

    @Test("A restart forgets the bytes and the validator that were there")
    func restarting() throws {
        var file = try PartialFile(destination: destination, isResumable: true)
        try file.restart(validator: try validator())
        try file.append(Data("hello".utf8))
        try file.restart(validator: nil)
        #expect(file.length == 0)
        #expect(try names == ["file.partial"])
        try file.append(Data("x".utf8))
        try file.complete()
        #expect(try Data(contentsOf: destination) == Data("x".utf8))
    }

    @Test("A second resuming download to one destination is refused until the first has ended")
    func locking() throws {
        var first = try PartialFile(destination: destination, isResumable: true)
        let error = #expect(throws: CocoaError.self) {
            try PartialFile(destination: self.destination, isResumable: true)
        }
        #expect(error?.code == .fileLocking)
        #expect(error?.localizedDescription.contains(destination.path) == true)
        first.abandon()
        var second = try PartialFile(destination: destination, isResumable: true)
        second.abandon()
    }

    @Test("Two downloads that don't resume each write a file of their own")
    func sideBySide() throws {
        var first = try PartialFile(destination: destination, isResumable: false)
        var second = try PartialFile(destination: destination, isResumable: false)
        #expect(first.path != second.path)
        try first.append(Data("first".utf8))
        try second.append(Data("second".utf8))
        try second.complete()
        try first.complete()
        #expect(try Data(contentsOf: destination) == Data("first".utf8))
        #expect(try names == ["file"])
    }

    @Test("A file that cannot be written fails with its path", arguments: [false, true])
    func unwritable(isResumable: Bool) {
        let missing = directory.appending(path: "missing/file")
        let error = #expect(throws: CocoaError.self) { try PartialFile(destination: missing, isResumable: isResumable) }
        #expect(error?.code == .fileNoSuchFile)
        #expect(error?.filePath?.hasPrefix(missing.path) == true)
        #expect(error?.localizedDescription.contains(missing.path) == true)
    }

    @Test("A destination that has become a directory keeps it, and the part")
    func directoryDestination() throws {
        var file = try PartialFile(destination: destination, isResumable: true)
        try FileManager.default.createDirectory(at: destination, withIntermediateDirectories: false)
        try file.restart(validator: try validator())
        try file.append(Data("x".utf8))
        #expect(throws: CocoaError.self) { try file.complete() }
        file.abandon()
        #expect(try names == ["file", "file.partial", "file.partial.validator"])
    }

    @Test("A full disk fails with the path and leaves the process running")
    func fullDisk() throws {
        let descriptor = try #require(POSIXFile.openFile("/dev/full", O_WRONLY))
        defer { _ = close(descriptor) }
        let code = try #require(POSIXFile.writeAll(Data([1]), to: descriptor))
        #expect(code == .ENOSPC)
        let error = FileFailure.writing("/some/file", code)
        #expect(error.code == .fileWriteOutOfSpace)
        #expect(error.localizedDescription == "Cannot write /some/file: No space left on device")
    }
}
