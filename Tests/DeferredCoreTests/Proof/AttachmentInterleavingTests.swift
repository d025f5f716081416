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

extension AttachmentInterleavingTests {
    /// A request to cancel that comes before the end is told to an object, whichever of both is first.
    @Test(arguments: [(isEnding: false, atLeast: 2), (true, 10)])
    func `attach × cancel`(isEnding: Bool, atLeast: Int) {
        let explorer = Explorer(actors: isEnding ? 3 : 2)
        explorer.explore { CancellingWorld(isEnding: isEnding).run }
        #expect(explorer.violation == nil)
        #expect(explorer.interleavings >= atLeast)
    }
}

/// SAFETY: everything belongs to the holder of the explorer's baton.
private final class CancellingWorld: @unchecked Sendable {
    private final class Object {
        var isCancelled = false
    }

    private let attachment = Attachment()
    private let object = Object()
    private let isEnding: Bool
    private var (isAttached, isNoted) = (false, false)

    init(isEnding: Bool) {
        self.isEnding = isEnding
    }

    var run: Explorer.Run {
        let attach: @Sendable () -> Void = {
            self.isAttached = self.attachment.attach(self.object, afterCancelling: { self.object.isCancelled = true })
        }
        let cancel: @Sendable () -> Void = {
            switch self.attachment.cancel() {
            case true?: self.isNoted = true
            case false?: break
            case nil: (self.attachment.object as? Object)?.isCancelled = true
            }
        }
        let end: @Sendable () -> Void = { _ = self.attachment.end(hasFailed: false) }
        return Explorer.Run(
            actors: isEnding ? [attach, cancel, end] : [attach, cancel],
            end: { self.violation },
            guarded: [attachment.bits.address]
        )
    }

    private var violation: String? {
        if attachment.isCancelled != isNoted { return "the note is lost" }
        if isAttached, isNoted, !object.isCancelled { return "the object was not told" }
        return isEnding || isAttached && object.isCancelled ? nil : "the cancellation is lost"
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
        let end: @Sendable () -> Void = { (self.attachment.end(hasFailed: false) as? Object)?.ends += 1 }
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
