import TestSupport
import Testing

@testable import DeferredCore

private typealias Attachment = DeferredCore.Attachment

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct AttachmentTests {
    private final class Object: Sendable {}

    enum State: CaseIterable {
        case empty, reserved, cancelled, attached, ended, cancelledAndEnded, attachedAndEnded
    }

    private func prepare(_ attachment: borrowing Attachment, _ state: State) -> AnyObject? {
        var object: Object?
        if [.attached, .attachedAndEnded].contains(state) {
            let new = Object()
            let isAttached = attachment.attach(new)
            #expect(isAttached)
            object = new
        }
        switch state {
        case .empty, .attached: break
        case .reserved: _ = attachment.reserve()
        case .cancelled: _ = attachment.cancel()
        case .cancelledAndEnded:
            _ = attachment.cancel()
            _ = attachment.end(hasFailed: false)
        case .ended, .attachedAndEnded: _ = attachment.end(hasFailed: false)
        }
        return object
    }

    @Test(arguments: State.allCases)
    func `only an empty attachment that has not ended takes an object`(state: State) {
        let attachment = Attachment()
        let before = prepare(attachment, state)
        #expect(attachment.object === before)
        let new = Object()
        let isTaken = attachment.attach(new)
        #expect(isTaken == [.empty, .reserved, .cancelled].contains(state))
        #expect(attachment.object === (isTaken ? new : before))
        let hasSucceeded = attachment.hasSucceeded
        #expect(hasSucceeded == [.ended, .cancelledAndEnded, .attachedAndEnded].contains(state))
    }

    @Test(arguments: State.allCases)
    func `a cancellation is noted once before the end, where there is no object`(state: State) {
        let attachment = Attachment()
        _ = prepare(attachment, state)
        let expected: Bool? =
            [.attached, .attachedAndEnded].contains(state) ? nil : [.empty, .reserved].contains(state)
        #expect(attachment.cancel() == expected)
        #expect(attachment.cancel() == (expected == nil ? nil : false))
        #expect(attachment.isCancelled == (expected == true || [.cancelled, .cancelledAndEnded].contains(state)))
    }

    @Test(arguments: State.allCases)
    func `an object is told of a cancellation that was noted before`(state: State) {
        let attachment = Attachment()
        _ = prepare(attachment, state)
        var isTold = false
        let isTaken = attachment.attach(Object(), afterCancelling: { isTold = true })
        #expect(isTold == (state == .cancelled))
        if isTold { #expect(isTaken) }
    }

    @Test(arguments: State.allCases)
    func `the attached object is notified of the end`(state: State) {
        let attachment = Attachment()
        let before = prepare(attachment, state)
        #expect(attachment.end(hasFailed: false) === before)
        #expect(attachment.object === before)
    }

    @Test func `an end that fails is no success`() {
        let attachment = Attachment()
        _ = attachment.end(hasFailed: true)
        let hasSucceeded = attachment.hasSucceeded
        #expect(!hasSucceeded)
    }

    @Test func `an attachment is reserved once`() {
        let attachment = Attachment()
        let (first, second) = (attachment.reserve(), attachment.reserve())
        #expect(first && !second)
    }

    @Test func `the object goes with the attachment, and not before`() {
        weak var object: Object?
        do {
            let attachment = Attachment()
            do {
                let new = Object()
                _ = attachment.attach(new)
                object = new
            }
            _ = attachment.end(hasFailed: false)
            #expect(object != nil)
        }
        #expect(object == nil)
    }
}
