#if DEBUG
import DeferredCore
import TestSupport
import Testing

@testable import DeferredCore

private typealias Attachment = DeferredCore.Attachment

/// No interleaving of those who attach with the end may make two objects, or one that never hears of the end.
@Suite(.ownThread, .timeLimit(.minutes(5)))
struct AttachmentInterleavingTests {
    @Test(arguments: [(attachers: 1, atLeast: 3), (2, 30)])
    func `attach × end`(attachers: Int, atLeast: Int) {
        let explorer = Explorer(actors: attachers + 1)
        explorer.explore { AttachmentWorld(attachers).run }
        #expect(explorer.violation == nil)
        #expect(explorer.interleavings >= atLeast)
    }
}

/// SAFETY: everything belongs to the holder of the explorer's baton.
private final class AttachmentWorld: @unchecked Sendable {
    /// Made by an attacher; told of the end when it is made, or by who ends.
    private final class Object {
        var ends: Int

        init(isEnded: Bool) {
            ends = isEnded ? 1 : 0
        }
    }

    private let attachment = Attachment()
    private var attached: [AnyObject?]

    init(_ attachers: Int) {
        attached = Array(repeating: nil, count: attachers)
    }

    var run: Explorer.Run {
        let attach = attached.indices.map { index -> @Sendable () -> Void in
            { self.attached[index] = self.attachment.attach { Object(isEnded: $0) } }
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
        guard let first = attached.first as? Object else { return "nothing is attached" }
        if attached.contains(where: { $0 !== first }) { return "there are two objects" }
        return first.ends == 1 ? nil : "the object heard \(first.ends) times of the end"
    }
}
#endif
