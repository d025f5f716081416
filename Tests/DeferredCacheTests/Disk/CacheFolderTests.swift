import Foundation
import TestSupport
import Testing

@testable import DeferredCache
@testable import DeferredHTTP

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct CacheFolderTests {
    @Test(arguments: [true, false])
    func `names are listed if that is possible`(isPossible: Bool) throws {
        let directory = try TemporaryDirectory()
        try directory.write("", to: "b-1")
        let folder = CacheFolder(directory.url.path) { $0 != .list || isPossible }
        var names: Set<String> = []
        #expect(folder.forEachName { names.insert($0) } == isPossible)
        #expect(names == (isPossible ? [".", "..", "b-1"] : []))
    }
}
