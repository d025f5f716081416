#if DEBUG
import DeferredCore
import TestSupport
import Testing

@testable import DeferredCore

private typealias Attachment = DeferredCore.Attachment

/// Tests that no interleaving of attaching with the end accepts two objects, or one that never learns of the end.
@Suite(.ownThread, .timeLimit(.minutes(5)), .enabled(if: !isThreadSanitized))
struct AttachmentInterleavingTests {
    @Test(arguments: [(attachers: 1, atLeast: 2), (2, 10)])
    func `attach × end`(attachers: Int, atLeast: Int) {
        let explorer = Explorer(actors: attachers + 1)
        explorer.explore { AttachmentWorld(attachers).run }
        #expect(explorer.violation == nil)
        #expect(explorer.interleavings >= atLeast)
    }
}

/// SAFETY: everything belongs to the holder of the explorer's baton.
private final class AttachmentWorld: @unchecked Sendable {
    private final class Object {
        var isAttached = false
        var ends = 0
    }

    private let attachment = Attachment()
    private let objects: [Object]

    init(_ attachers: Int) {
        objects = (0..<attachers).map { _ in Object() }
    }

    var run: Explorer.Run {
        let attach = objects.indices.map { index -> @Sendable () -> Void in
            { self.objects[index].isAttached = self.attachment.attach(self.objects[index]) }
        }
        let end: @Sendable () -> Void = { (self.attachment.end() as? Object)?.ends += 1 }
        return Explorer.Run(
            actors: attach + [end],
            observe: {},
            check: { nil },
            end: { self.violation },
            guarded: [attachment.bits.address]
        )
    }

    private var violation: String? {
        if objects.count(where: \.isAttached) > 1 { return "there are two objects" }
        return objects.allSatisfy { $0.ends == ($0.isAttached ? 1 : 0) } ? nil : "an object heard wrongly of the end"
    }
}
#endif
