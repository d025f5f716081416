import DeferredCore
import Foundation
import TestSupport
import Testing

@testable import DeferredNetworking

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Partial file", .ownThread, .timeLimit(.minutes(1)))
final class PartialFileTests {
    private let directory: URL
    private let url = URL(string: "http://host/") ?? URL(filePath: "/")
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
        try #require(ResumeValidator(contents: Data("\(tag)\n\(total.map(String.init) ?? "*")\nhttp://host/\n".utf8)))
    }

    @Test(arguments: [false, true])
    func `a complete file takes the destination's name and replaces an existing file`(isResumable: Bool) throws {
        try Data("old".utf8).write(to: destination)
        var file = try PartialFile(destination: destination, of: url, isResumable: isResumable)
        try file.restart(validator: try validator())
        try file.append(Data("hello ".utf8))
        try file.append(Data("world".utf8))
        #expect(try Data(contentsOf: destination) == Data("old".utf8))
        try file.complete()
        #expect(try Data(contentsOf: destination) == Data("hello world".utf8))
        file.abandon()
        #expect(try names == ["file"])
    }

    @Test func `a long name is shortened to what still can be recognised and told apart`() {
        let name = String(repeating: "é", count: 130)
        let stems = ["1", "2"].map { PartialFile.stem(of: directory.appending(path: name + $0)) }
        for stem in stems {
            let cut = URL(filePath: stem).lastPathComponent
            #expect(cut.hasPrefix(String(repeating: "é", count: 100) + "~"))
            #expect(cut.utf8.count <= 220)
        }
        #expect(stems[0] != stems[1])
    }

    @Test func `a closed file is unlocked, though a child process still has its descriptor`() throws {
        let path = directory.appending(path: "file.partial").path
        let file = try PartialFile.openShared(path)
        // As after a fork, before the child's exec: another descriptor of the same open file.
        let copy = dup(file.descriptor)
        defer { _ = close(copy) }
        #expect(throws: CocoaError.self) { try PartialFile.openShared(path) }
        file.close()
        try PartialFile.openShared(path).close()
    }

    @Test func `an abandoned file leaves nothing behind`() throws {
        var file = try PartialFile(destination: destination, of: url, isResumable: false)
        try file.restart(validator: try validator())
        try file.append(Data("x".utf8))
        file.abandon()
        #expect(try names == [])
    }

    @Test func `a part with a strong validator outlives a failure and is resumed`() throws {
        var first = try PartialFile(destination: destination, of: url, isResumable: true)
        #expect(!first.canResume)
        try first.restart(validator: try validator())
        try first.append(Data("hello".utf8))
        first.abandon()
        #expect(try names == ["file.partial", "file.partial.validator"])

        var second = try PartialFile(destination: destination, of: url, isResumable: true)
        #expect(second.canResume)
        #expect(second.length == 5)
        #expect(second.validator == (try validator()))
        try second.resume()
        try second.append(Data("world".utf8))
        try second.complete()
        #expect(try Data(contentsOf: destination) == Data("helloworld".utf8))
        #expect(try names == ["file"])
    }

    @Test(arguments: [(true, ""), (false, "hello")])
    func `a part without a validator, or without a byte, is deleted`(hasValidator: Bool, text: String) throws {
        var file = try PartialFile(destination: destination, of: url, isResumable: true)
        try file.restart(validator: hasValidator ? try validator() : nil)
        try file.append(Data(text.utf8))
        file.abandon()
        #expect(try names == [])
    }

    @Test func `a restart forgets the bytes and the validator that were there`() throws {
        var file = try PartialFile(destination: destination, of: url, isResumable: true)
        try file.restart(validator: try validator())
        try file.append(Data("hello".utf8))
        try file.restart(validator: nil)
        #expect(file.length == 0)
        #expect(try names == ["file.partial"])
        try file.append(Data("x".utf8))
        try file.complete()
        #expect(try Data(contentsOf: destination) == Data("x".utf8))
    }

    @Test func `a second resuming download to one destination is refused until the first has ended`() throws {
        var first = try PartialFile(destination: destination, of: url, isResumable: true)
        let error = #expect(throws: CocoaError.self) {
            try PartialFile(destination: self.destination, of: url, isResumable: true)
        }
        #expect(error?.code == .fileLocking)
        #expect(error?.localizedDescription.contains(destination.path) == true)
        first.abandon()
        var second = try PartialFile(destination: destination, of: url, isResumable: true)
        second.abandon()
    }

    @Test func `a download that has ended gives its part up to the next one, and writes no more`() throws {
        let isOver = Deferred<Void>()
        var first = try PartialFile(
            destination: destination,
            of: url,
            isResumable: true,
            isOver: { isOver.isFilled }
        )
        try first.restart(validator: try validator())
        try first.append(Data("hello".utf8))
        isOver.fill()
        var second = try PartialFile(destination: destination, of: url, isResumable: true)
        #expect(second.canResume && second.length == 5)
        #expect(throws: CocoaError.self) { try first.append(Data("x".utf8)) }
        #expect(throws: CocoaError.self) { try first.restart(validator: nil) }
        #expect(throws: CocoaError.self) { try first.complete() }
        first.abandon()
        #expect(try names == ["file.partial", "file.partial.validator"])
        // It still keeps others out.
        #expect(throws: CocoaError.self) { try PartialFile(destination: destination, of: url, isResumable: true) }
        try second.resume()
        try second.append(Data("world".utf8))
        try second.complete()
        #expect(try Data(contentsOf: destination) == Data("helloworld".utf8))
    }

    @Test func `a restart leaves the validator of another download's file alone`() throws {
        var first = try PartialFile(destination: destination, of: url, isResumable: true)
        try FileManager.default.removeItem(atPath: first.path)
        var second = try PartialFile(destination: destination, of: url, isResumable: true)
        try second.restart(validator: try validator("\"v2\""))
        try second.append(Data("hello".utf8))
        #expect(throws: CocoaError.self) { try first.restart(validator: try validator()) }
        first.abandon()
        second.abandon()
        #expect(PartialFile.readValidator(at: second.path + ".validator") == (try validator("\"v2\"")))
    }

    @Test func `two downloads that don't resume each write their own file`() throws {
        var first = try PartialFile(destination: destination, of: url, isResumable: false)
        var second = try PartialFile(destination: destination, of: url, isResumable: false)
        #expect(first.path != second.path)
        try first.append(Data("first".utf8))
        try second.append(Data("second".utf8))
        try second.complete()
        try first.complete()
        #expect(try Data(contentsOf: destination) == Data("first".utf8))
        #expect(try names == ["file"])
    }

    @Test(arguments: [false, true])
    func `a file that cannot be written fails with its path`(isResumable: Bool) {
        let missing = directory.appending(path: "missing/file")
        let error = #expect(throws: CocoaError.self) {
            try PartialFile(destination: missing, of: url, isResumable: isResumable)
        }
        #expect(error?.code == .fileNoSuchFile)
        #expect(error?.filePath?.hasPrefix(missing.path) == true)
        #expect(error?.localizedDescription.contains(missing.path) == true)
    }

    @Test(arguments: [false, true])
    func `a pipe, or a link to one, is not replaced by a file`(isResumable: Bool) throws {
        let pipe = directory.appending(path: "pipe")
        let link = directory.appending(path: "link")
        #expect(mkfifo(pipe.path, 0o600) == 0)
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: pipe)
        for destination in [pipe, link] {
            let error = #expect(throws: CocoaError.self) {
                try PartialFile(destination: destination, of: url, isResumable: isResumable)
            }
            #expect(error?.code == .fileWriteFileExists)
            #expect(
                error?.localizedDescription.hasPrefix("Cannot write \(destination.path): it is a device, a pipe")
                    == true
            )
        }
        #expect(try names == ["link", "pipe"])
    }

    @Test func `a destination that has become a directory keeps it, and the part`() throws {
        var file = try PartialFile(destination: destination, of: url, isResumable: true)
        try FileManager.default.createDirectory(at: destination, withIntermediateDirectories: false)
        try file.restart(validator: try validator())
        try file.append(Data("x".utf8))
        #expect(throws: CocoaError.self) { try file.complete() }
        file.abandon()
        #expect(try names == ["file", "file.partial", "file.partial.validator"])
    }

    @Test func `a failed renaming is the error, even if the validator can't be restored`() throws {
        var file = try PartialFile(destination: destination, of: url, isResumable: true)
        try file.restart(validator: try validator())
        try file.append(Data("x".utf8))
        try FileManager.default.createDirectory(at: destination, withIntermediateDirectories: false)
        let validatorFile = URL(filePath: file.path + ".validator")
        try FileManager.default.removeItem(at: validatorFile)
        try FileManager.default.createDirectory(at: validatorFile, withIntermediateDirectories: false)
        let error = #expect(throws: CocoaError.self) { try file.complete() }
        #expect(error?.userInfo[NSFilePathErrorKey] as? String == destination.path)
        file.abandon()
    }

    @Test func `a full disk fails with the path and leaves the process running`() throws {
        #if os(Linux)
        let descriptor = try #require(POSIXFile.openFile("/dev/full", O_WRONLY))
        defer { _ = close(descriptor) }
        #expect(POSIXFile.writeAll(Data([1]), to: descriptor) == .ENOSPC)
        #endif
        let error = FileFailure.writing("/some/file", .ENOSPC)
        #expect(error.code == .fileWriteOutOfSpace)
        #expect(error.localizedDescription == "Cannot write /some/file: No space left on device")
    }

    @Test func `a part behind a symbolic link is refused, and the link's target stays`() throws {
        let other = directory.appending(path: "other")
        try Data("precious".utf8).write(to: other)
        for name in ["file.partial", "file.partial.validator"] {
            let link = directory.appending(path: name)
            try FileManager.default.createSymbolicLink(at: link, withDestinationURL: other)
            do {
                var file = try PartialFile(destination: destination, of: url, isResumable: true)
                try file.restart(validator: try validator())
                try file.append(Data("x".utf8))
                file.abandon()
                #expect(name != "file.partial")
            } catch {
                #expect(name == "file.partial")
            }
            #expect(try Data(contentsOf: other) == Data("precious".utf8))
            try? FileManager.default.removeItem(at: link)
        }
    }

    @Test func `a part that is also another file is replaced, and the other file stays`() throws {
        let other = directory.appending(path: "other")
        try Data("precious".utf8).write(to: other)
        #expect(link(other.path, directory.appending(path: "file.partial").path) == 0)
        try validator().contents.write(to: directory.appending(path: "file.partial.validator"))
        var file = try PartialFile(destination: destination, of: url, isResumable: true)
        #expect(!file.canResume)
        try file.restart(validator: try validator())
        try file.append(Data("x".utf8))
        try file.complete()
        #expect(try Data(contentsOf: other) == Data("precious".utf8))
        #expect(try Data(contentsOf: destination) == Data("x".utf8))
        #expect(try names == ["file", "other"])
    }

    @Test(.enabled(if: geteuid() == 0), arguments: ["", ".validator"])
    func `a part that another user has made, or its validator, is not used`(suffix: String) throws {
        var first = try PartialFile(destination: destination, of: url, isResumable: true)
        try first.restart(validator: try validator())
        try first.append(Data("hello".utf8))
        first.abandon()
        #expect(chown(first.path + suffix, 65_534, 65_534) == 0)
        var second = try PartialFile(destination: destination, of: url, isResumable: true)
        #expect(!second.canResume)
        try second.restart(validator: try validator())
        try second.append(Data("x".utf8))
        #expect(try #require(POSIXFile.statusWithoutFollowing(second.path)).st_uid == geteuid())
        try second.complete()
        #expect(try Data(contentsOf: destination) == Data("x".utf8))
    }

    @Test func `a file that can't be written to the disk is an error, unless none of its kind can`() throws {
        var ends: [Int32] = [-1, -1]
        try #require(pipe(&ends) == 0)
        #expect(POSIXFile.flush(ends[1]) == nil)
        for end in ends { #expect(close(end) == 0) }
        #expect(POSIXFile.flush(-1) == .EBADF)
    }

    private func mode(_ path: String) throws -> mode_t {
        try #require(POSIXFile.statusWithoutFollowing(path)).st_mode & 0o777
    }

    @Test(arguments: [false, true])
    func `a part is its owner's only, and a complete file has the permissions of any new one`(isResumable: Bool) throws
    {
        var file = try PartialFile(destination: destination, of: url, isResumable: isResumable)
        try file.restart(validator: try validator())
        #expect(try mode(file.path) == 0o600)
        if isResumable {
            #expect(try mode(file.path + ".validator") == 0o600)
        }
        try file.complete()
        try Data().write(to: directory.appending(path: "new"))
        #expect(try mode(destination.path) == mode(directory.appending(path: "new").path))
    }

    @Test(arguments: [false, true])
    func `a file that has taken the part's name is neither deleted nor taken for it`(isResumable: Bool) throws {
        for completes in [false, true] {
            var file = try PartialFile(destination: destination, of: url, isResumable: isResumable)
            try file.append(Data("x".utf8))
            try FileManager.default.removeItem(atPath: file.path)
            try Data("precious".utf8).write(to: URL(filePath: file.path))
            if completes {
                #expect(throws: CocoaError.self) { try file.complete() }
            }
            file.abandon()
            #expect(try Data(contentsOf: URL(filePath: file.path)) == Data("precious".utf8))
            #expect(!FileManager.default.fileExists(atPath: destination.path))
            try FileManager.default.removeItem(atPath: file.path)
        }
    }

    @Test(arguments: [false, true])
    func `names of up to 255 bytes work, and two that begin the same don't meet`(isResumable: Bool) throws {
        let long = String(repeating: "ä", count: 116)
        for name in [long + "12345678", long + "12345678901234567890123", String(repeating: "x", count: 255)] {
            let target = directory.appending(path: name)
            let neighbour = directory.appending(path: name.dropLast() + "y")
            var file = try PartialFile(destination: target, of: url, isResumable: isResumable)
            var other = try PartialFile(destination: neighbour, of: url, isResumable: isResumable)
            #expect(file.path != other.path)
            try file.restart(validator: try validator())
            try file.append(Data("x".utf8))
            try file.complete()
            other.abandon()
            #expect(try names == [name])
            try FileManager.default.removeItem(at: target)
        }
        let tooLong = directory.appending(path: String(repeating: "x", count: 256))
        let error = #expect(throws: CocoaError.self) {
            try PartialFile(destination: tooLong, of: self.url, isResumable: isResumable)
        }
        #expect(error?.code == .fileWriteInvalidFileName)
    }

    @Test func `a part of another URL is not used, whatever its validator`() throws {
        var first = try PartialFile(destination: destination, of: url, isResumable: true)
        try first.restart(validator: try validator())
        try first.append(Data("hello".utf8))
        first.abandon()
        let other = try #require(URL(string: "http://host/other"))
        var second = try PartialFile(destination: destination, of: other, isResumable: true)
        #expect(!second.canResume)
        second.abandon()
        // Until bytes come, it is somebody else's.
        #expect(try names == ["file.partial", "file.partial.validator"])
        var third = try PartialFile(destination: destination, of: other, isResumable: true)
        try third.restart(validator: nil)
        third.abandon()
        #expect(try names == [])
    }
}
