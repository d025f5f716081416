import Foundation
import TestSupport
import Testing

@testable import fetch

@Suite("Output directory", .ownThread, .timeLimit(.minutes(1)))
struct OutputDirectoryTests {
    private let temporary: TemporaryDirectory

    init() throws {
        temporary = try TemporaryDirectory()
    }

    @Test func `a directory is created with those above it, or used as it is`() throws {
        let path = temporary.file("a/b/c/").path
        for _ in 1...2 {
            let directory = try OutputDirectory(path: path)
            #expect(directory.file("x").path == temporary.file("a/b/c/x").path)
        }
        #expect(FileManager.default.fileExists(atPath: path))
    }

    @Test(arguments: ["file", "file/below", "file/a/b"])
    func `an unusable directory fails with the path and the reason`(path: String) throws {
        try Data().write(to: temporary.file("file"))
        let error = #expect(throws: ProgramExit.self) {
            try OutputDirectory(path: temporary.file(path).path)
        }
        #expect(
            error?.text == "cannot write to the directory \"\(temporary.file(path).path)\": Not a directory; "
                + "choose another one with --output"
        )
    }
}
